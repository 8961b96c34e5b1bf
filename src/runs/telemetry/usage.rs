//! Counts of tokens under the names that providers give them, and what of them is billed.

use skill_lift_contract::telemetry::Basis;

use crate::json::View;

/// Names of the counts, in the order in which they are looked for.
const INPUT: [&str; 5] = ["input_tokens", "prompt_tokens", "input", "promptTokens", "inputTokens"];
const OUTPUT: [&str; 5] = ["output_tokens", "completion_tokens", "output", "completionTokens", "outputTokens"];
const CACHE_READ: [&str; 5] =
    ["cache_read_tokens", "cache_read_input_tokens", "cached_tokens", "cached_input_tokens", "cacheReadTokens"];
const CACHE_WRITE: [&str; 4] =
    ["cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens", "cacheWriteTokens"];
const REASONING: [&str; 3] = ["reasoning_tokens", "thinking_tokens", "reasoningTokens"];
const TOTAL: [&str; 4] = ["total_tokens", "totalTokens", "total", "tokens"];

/// All of them.
pub(super) fn aliases() -> impl Iterator<Item = &'static str> {
    [&INPUT[..], &OUTPUT, &CACHE_READ, &CACHE_WRITE, &REASONING, &TOTAL].into_iter().flatten().copied()
}

/// What a provider counted. `None`: it does not say; that is not zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UsageCounts {
    /// Tokens that went in.
    pub input: Option<u64>,
    /// Tokens that came out.
    pub output: Option<u64>,
    /// Tokens that were read from a cache.
    pub cache_read: Option<u64>,
    /// Tokens that were written to a cache.
    pub cache_write: Option<u64>,
    /// Tokens of reasoning.
    pub reasoning: Option<u64>,
    /// All tokens, as the provider adds them up.
    pub total: Option<u64>,
}

/// Whether a provider counts cached tokens as input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheRule {
    /// Cached tokens are part of the input.
    InInput,
    /// They are counted beside it.
    BesideInput,
    /// The provider is not known.
    Unknown,
}

/// Parts of names of providers and runners, with what they count as input.
const RULES: [(&str, CacheRule); 8] = [
    ("claude", CacheRule::BesideInput),
    ("anthropic", CacheRule::BesideInput),
    ("opencode", CacheRule::BesideInput),
    ("codex", CacheRule::InInput),
    ("openai", CacheRule::InInput),
    ("gemini", CacheRule::InInput),
    ("google", CacheRule::InInput),
    ("copilot", CacheRule::InInput),
];

impl CacheRule {
    /// The rule of the runner that counted, else of the provider.
    pub fn of(basis: &Basis) -> Self {
        let rule = |name: &String| {
            let name = name.to_lowercase();
            // the short name of one agent is part of many words
            let whole = (name == "pi").then_some(Self::BesideInput);
            whole.or_else(|| RULES.iter().find(|(part, _)| name.contains(part)).map(|(_, rule)| *rule))
        };
        let named = basis.runner.as_ref().and_then(rule).or_else(|| basis.provider.as_ref().and_then(rule));
        named.unwrap_or(Self::Unknown)
    }
}

impl UsageCounts {
    /// Reads a block of counts. Negative numbers, fractions of a token beyond the point, booleans are no counts.
    pub fn read<'v, V: View<'v>>(block: Option<V>) -> Self {
        let Some(block) = block else { return Self::default() };
        let first = |names: &[&str]| {
            names.iter().find_map(|name| {
                let value = block.member(name)?.number()?.as_f64();
                // cut off, as the reference does; 2 to the 53rd is where whole numbers end to be exact
                (0.0..=9_007_199_254_740_992.0).contains(&value).then_some(value as u64)
            })
        };
        Self {
            input: first(&INPUT),
            output: first(&OUTPUT),
            cache_read: first(&CACHE_READ),
            cache_write: first(&CACHE_WRITE),
            reasoning: first(&REASONING),
            total: first(&TOTAL),
        }
    }

    /// Tokens that went in, those of caches included.
    ///
    /// # Errors
    /// The reason why that is not known.
    pub fn prompt(&self, rule: CacheRule) -> Result<u64, &'static str> {
        let Some(input) = self.input else { return Err("missing_input_or_output_tokens") };
        match (rule, self.cache_read, self.cache_write) {
            (CacheRule::InInput, ..) => Ok(input),
            (CacheRule::BesideInput, Some(read), Some(write)) => Ok(input.saturating_add(read).saturating_add(write)),
            (CacheRule::BesideInput, ..) => Err("missing_cache_tokens"),
            (CacheRule::Unknown, ..) => Err("cache_accounting_unknown"),
        }
    }

    /// Every token that was billed, each once.
    ///
    /// # Errors
    /// The reason why that is not known: input or output are missing, or it is not known whether cached tokens are part
    /// of the input.
    pub fn billable(&self, rule: CacheRule) -> Result<u64, &'static str> {
        let output = self.output.ok_or("missing_input_or_output_tokens")?;
        Ok(self.prompt(rule)?.saturating_add(output))
    }
}
