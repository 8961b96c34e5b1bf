//! English words that say nothing of what a skill is about.

/// The stop words of the format's own generator, other function words, and words that descriptions of skills share.
const STOP_WORDS: &str = "
    a about above across additional advanced after again against all already also always an and another any anything are
    around as asked asking asks at available based basic be because been before being below best better between both but
    by can common complete complex comprehensive could current custom did different do does doing done due during e.g
    each easy effective efficient either else end entire especially etc even every everything existing few first follows
    following for from full further general good great had has have he help helper helps her here high high-quality him
    his how i i.e if important in including includes instead into is it items its just key kind know large last least
    less like likely low make many may me mention mentioned mentions might more most much must my name need needed needs
    new next no not nothing now obvious of off often on once one only or other others our out over own particular per
    please powerful pre proper providing quick rather related relevant request requested requests right same say saying see
    seen sees says several she should similar simple single situations small so some something specific step still such sure task
    tasks than that the their them then there these they thing things this those though three through throughout time to
    together too trigger triggered triggers two type types typical under unless until up upon us use used useful user
    users uses using various very via want wanted wants was way ways we well were what when whenever where whether which
    while who whole whose why will wish with within without work working works would yet you your
    activate activated agent agents assistant capability capabilities claude codex phrases when-to-use
";

/// Verbs in which descriptions say what a skill does, in their plain form.
const VERBS: &str = "
    accept access achieve act adapt add adjust aggregate align allow analyse analyze annotate answer apply arrange assemble
    assess assist author audit automate avoid bleed brainstorm break bring browse build bundle calculate call capture carry catch categorize
    change check choose clarify classify clean collaborate collect combine come compare compile compose compress compute condense configure
    connect consider consolidate construct consult contain convert coordinate copy correct cover craft crawl create crop customize
    debug decide decrypt deduplicate define delegate delete deliver deploy derive describe detect determine develop diagnose discover discuss
    display do document download draft draw edit embed enable encode encrypt enforce enhance enrich ensure establish estimate
    evaluate examine execute expand explain explore export extend extract fetch fill filter find finish fix follow
    format gather generate get give go group guide handle highlight identify illustrate implement import improve improvise include
    initialize inspect install integrate interact interpret investigate invoke involve iterate keep launch lead learn let
    link list load locate look maintain make manage map match mean measure merge migrate mine modify monitor move navigate
    normalize offer open optimize orchestrate organize outline overlap package parse perform pick plan polish prepare present preserve
    prevent prioritize process produce profile proofread propose protect provide publish pull push put query read recommend
    record redact refactor refer refine remove rename render reorganize repair replace report reproduce require research resolve
    restructure retrieve return review rewrite run save scaffold scan schedule scrape search secure select send
    set setup share show simplify solve sort speed split standardize start stop store streamline structure style submit suggest
    summarise summarize support sync synthesize take teach tell test think track train transcribe transform translate troubleshoot try
    tune turn typeset understand update upgrade upload validate verify visualize walk watch wire write
";

/// Verbs above that are more often nouns in their plain form or with an `s`: `weekly report`, `unit tests`.
const NOUNS: &str = "
    access answer audit author break bundle call change copy cover document draft edit embed end estimate export filter format
    group guide import interface launch lead link list load map measure mine move outline package plan process profile
    query record report research return review schedule search setup share sort speed split store structure style support
    sync test track train tune upgrade upload walk watch wire
";

/// Words with `-ly` that are no adverbs.
const LY_WORDS: &str = "
    weekly monthly daily hourly quarterly yearly family assembly supply reply anomaly monopoly butterfly
";

fn has(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

/// Whether a lower-case word says nothing of a topic.
pub(super) fn is_stop_word(word: &str) -> bool {
    let is_empty_adjective = ["ful", "less", "ous"].iter().any(|end| word.ends_with(end)) && word.len() > 5;
    let is_adverb = word.ends_with("ly") && word.len() > 4 && !has(LY_WORDS, word);
    has(STOP_WORDS, word) || word.contains("skill") || is_adverb || is_empty_adjective
}

/// How a word may be a verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VerbForm {
    /// It is none that we know.
    None,
    /// `create`: a noun or adjective after another word (`two-pass rewrite flow`), else what is done.
    Plain,
    /// `creates`, `created`: no part of what a skill is about.
    Finite,
    /// `creating`: a noun after another word (`image processing`), else what is done to what follows.
    Gerund,
    /// `report`, `tests`: a verb at the begin of a clause, a noun elsewhere.
    Ambiguous,
}

/// How a lower-case word may be a verb.
pub(super) fn verb_form(word: &str) -> VerbForm {
    let is_verb = |stem: &str| has(VERBS, stem);
    let plain_forms = [Some(word), word.strip_suffix('s'), word.strip_suffix("es")];
    let y_form = word.strip_suffix("ies").map(|stem| format!("{stem}y"));
    if let Some(plain) = plain_forms.into_iter().flatten().chain(y_form.as_deref()).find(|stem| is_verb(stem)) {
        return match has(NOUNS, plain) {
            true => VerbForm::Ambiguous,
            false if plain == word => VerbForm::Plain,
            false => VerbForm::Finite,
        };
    }
    let inflected = |ending: &str| {
        word.strip_suffix(ending).is_some_and(|stem| {
            let undoubled = stem.char_indices().next_back().filter(|(at, last)| stem[..*at].ends_with(*last));
            is_verb(stem)
                || is_verb(&format!("{stem}e"))
                || undoubled.is_some_and(|(at, _)| is_verb(&stem[..at]))
                || stem.strip_suffix('i').is_some_and(|stem| is_verb(&format!("{stem}y")))
        })
    };
    if inflected("ing") {
        VerbForm::Gerund
    } else if inflected("ed") {
        VerbForm::Finite
    } else {
        VerbForm::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_verbs() {
        for word in ["build", "modify"] {
            assert_eq!(verb_form(word), VerbForm::Plain, "{word}");
        }
        for word in ["builds", "fixes", "identifies", "created", "merged", "planned", "applied"] {
            assert_eq!(verb_form(word), VerbForm::Finite, "{word}");
        }
        for word in ["creating", "debugging", "running", "filling", "planning"] {
            assert_eq!(verb_form(word), VerbForm::Gerund, "{word}");
        }
        for word in ["report", "reports", "tests", "query", "queries"] {
            assert_eq!(verb_form(word), VerbForm::Ambiguous, "{word}");
        }
        for word in ["digest", "invoice", "string", "seed", "spring", "class"] {
            assert_eq!(verb_form(word), VerbForm::None, "{word}");
        }
    }

    #[test]
    fn words_without_a_topic() {
        for word in ["when", "quickly", "powerful", "skills", "skill-forge", "says"] {
            assert!(is_stop_word(word), "{word}");
        }
        for word in ["weekly", "digest", "anomaly", "family", "bus"] {
            assert!(!is_stop_word(word), "{word}");
        }
    }
}
