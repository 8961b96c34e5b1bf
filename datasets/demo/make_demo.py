#!/usr/bin/env python3
"""Write the bundled demo: evals/, skills/ and runs/ beside this file.

Standard library only. Every choice hangs on SEED and on the name of the run,
so two calls give identical bytes. The answers are written, not recorded: the
fault plan of each case (`plan`) says which checks a run misses, and the text
is put together from phrases that meet or miss them.
"""

import hashlib
import json
import shutil
from pathlib import Path

SEED = "incident-summary/4"
SKILL = "incident-summary"
SONNET, CODEX = "claude-sonnet-4.5", "gpt-5.1-codex"
MODELS = (SONNET, CODEX)
ARMS = ("with_skill", "without_skill")
RUNS = 5
PRICE = {SONNET: (3.00, 15.00), CODEX: (1.25, 10.00)}  # USD per million tokens

SKILL_TEXT = """\
---
name: incident-summary
description: Write incident summaries, status posts and shift handovers that a reader outside the team can act on. Use when someone asks for an incident write-up, a post-incident review, a customer notice or a handover.
---

# Incident summary

Write for a reader who was not there. One page at most.

## Order

1. **Impact first.** Who noticed what, how many, for how long. Give the duration in minutes and work out shares; do not leave the sum to the reader.
2. **What happened.** Times as `HH:MM UTC`, converted from local time, oldest first.
3. **Why.** Start one line with `Trigger:` (the event that set it off). Name every *contributing factor* apart from it. If the evidence stops, write "not yet known" and do not guess.
4. **What was not affected.** One line.
5. **Actions.** Each as `owner: <role>, due: YYYY-MM-DD`.

## Words

- Roles, never personal names: "the on-call engineer", "the deploying engineer".
- No "human error", no "mistake", no "forgot". Ask what let it happen, and propose a guard rail.
- No grand adjectives and no filler ("rest assured", "as soon as possible").

## Severity

| Level | Meaning |
|---|---|
| SEV1 | a core function is down for everyone |
| SEV2 | a core function is down for some, or slow for everyone |
| SEV3 | a side function is impaired |
| SEV4 | no effect outside the team |

When a file is asked for, save `incident.json` with `severity` and `open_actions`.

## Notices and handovers

- A customer notice says what data was *not* involved, whether the reader has to do anything, and where to ask (`privacy@example.com`).
- A handover tags every item `[open]`, `[watching]` or `[mitigated]`, and gives its owner and the time of the next check in UTC.
"""


def A(kind, name, **fields):
    return {"type": kind, "name": name, **fields}


# A part is (label, check key or None, phrases that meet it, phrases that miss it);
# "" leaves the part out. `plan` lists, per arm and model, the checks missed in
# runs 1 to 5 ("-" = none).
CASES = [
    {
        "id": "checkout-outage",
        "split": "tune", "domain": "payments", "difficulty": "easy", "trigger_type": "explicit",
        "success_goals": ["impact", "blameless"], "tags": ["review", "numbers"],
        "prompt": "Summarise this incident for the weekly review.\n\nNotes, 12 March 2025, all times CET:\n- 13:58 deploy raises the worker count from 20 to 80 (Priya)\n- 14:02 card payments begin to fail, database connection pool is full\n- 14:31 deploy rolled back\n- 14:49 error rate back to normal\n- 3120 of 7800 orders failed; bank transfers kept working",
        "expected_behavior": ["Leads with impact and duration", "Converts the times", "Keeps people out of it"],
        "checks": {
            "a": A("contains_any", "states the duration", values=["47 min", "47-min"]),
            "b": A("regex", "works out the share of failed orders", pattern=r"\b40 ?(%|percent)"),
            "c": A("regex", "gives times in UTC", pattern=r"\b1[23]:\d\d UTC"),
            "d": A("contains_any", "tells the trigger from the cause", values=["Trigger:", "triggered by"]),
            "e": A("excludes_any", "names nobody", values=["Priya"]),
            "f": A("contains_any", "says what was not affected", values=["not affected", "unaffected"], severity="soft"),
        },
        "title": ["Card payments failing, 12 March", "Checkout outage, 12 March 2025", "Failed card payments after a deploy"],
        "parts": [
            ("Impact", "a", ["Card payments failed for 47 minutes.", "For 47 minutes card payments were rejected.", "A 47-minute outage of card payments at checkout."],
             ["Card payments failed for a good part of the early afternoon.", "Card payments were failing from shortly after the deploy until the rollback took hold.", "Customers could not pay by card for a while."]),
            (None, "b", ["3120 of 7800 orders (40 %) did not go through.", "About 40% of the orders in the window failed (3120 of 7800)."],
             ["3120 orders failed.", "3120 out of roughly 7800 orders did not complete."]),
            ("When", "c", ["First failures 13:02 UTC, rollback 13:31 UTC, normal again 13:49 UTC.", "13:02 UTC first errors; 13:31 UTC rolled back; 13:49 UTC recovered."],
             ["Errors started at 14:02, the rollback came at 14:31 and things were normal by 14:49.", "Timeline: 14:02 errors, 14:31 rollback, 14:49 recovery (CET)."]),
            (None, "d", ["Trigger: the deploy that raised the workers from 20 to 80, more than the connection pool could serve.", "Trigger: four times the workers on an unchanged connection pool."],
             ["The root cause was the database connection pool being full.", "The database ran out of connections, which broke payments."]),
            (None, "e", ["The deploying engineer rolled the change back.", "The on-call engineer rolled back as soon as the pool was identified."],
             ["Priya's deploy was rolled back.", "Priya deployed the change and it was later reverted."]),
            ("Scope", "f", ["Bank transfers were not affected.", "Bank transfers were unaffected throughout."],
             ["", "Bank transfers kept working."]),
        ],
        "plan": {"with_skill": ["- - - - -", "- f - - -"], "without_skill": ["bd cdf ad cd bdf", "ad cdf cd bd cef"]},
    },
    {
        "id": "cert-expiry",
        "split": "tune", "domain": "platform", "difficulty": "medium", "trigger_type": "explicit",
        "success_goals": ["impact", "actions"], "tags": ["review", "certificates"],
        "prompt": "Write up the incident below for the platform review.\n\nThe certificate of api.example.test ran out on 2 June 2025 at 00:00 UTC. Monitoring paged at 00:09, a new certificate was served at 01:22. Users of the mobile app saw connection errors; the web app uses another host. The renewal job had been switched off in April for a migration and was never switched on again.",
        "expected_behavior": ["Gives duration and detection delay", "Actions carry owner and date"],
        "checks": {
            "a": A("regex", "states the duration", pattern=r"\b82[ -]min"),
            "b": A("regex", "states the time to detect", pattern=r"\b(9|nine)[ -]min"),
            "c": A("contains_any", "separates contributing factors", values=["contributing factor", "contributed to"]),
            "d": A("regex", "gives an action with owner and date", pattern=r"owner: [^,\n]+, due: \d{4}-\d{2}-\d{2}"),
            "e": A("not_regex", "uses blameless words", pattern=r"\b(human error|forgot(ten)?|careless|oversight)\b"),
        },
        "title": ["Expired API certificate", "API certificate expiry, 2 June 2025", "Mobile app cut off by an expired certificate"],
        "parts": [
            ("Impact", "a", ["Mobile app users could not connect for 82 minutes.", "82 minutes without a working API for the mobile app.", "The mobile app saw connection errors for 82 minutes."],
             ["Mobile app users got connection errors for over an hour.", "The mobile app was down from midnight until 01:22."]),
            ("Detection", "b", ["Monitoring paged after 9 minutes.", "The page came nine minutes after expiry."],
             ["Monitoring noticed at 00:09.", "Monitoring caught the problem quickly."]),
            (None, None, ["Trigger: the certificate expired at 00:00 UTC.", "The certificate of the API host expired at 00:00 UTC."], [""]),
            (None, "c", ["Contributing factor: the renewal job was off since the April migration and nothing watched it.", "A renewal job left disabled after the April migration contributed to it, as did the lack of an expiry alert."],
             ["The renewal job had been disabled in April.", "This happened because the renewal job was off."]),
            ("Action", "d", ["Alert 21 days before expiry; owner: platform lead, due: 2025-06-13.", "Check renewal jobs after each migration; owner: platform on-call, due: 2025-06-20.", "Add an expiry probe; owner: monitoring team, due: 2025-06-16."],
             ["We should add alerts on certificate expiry and review the renewal jobs.", "Monitor expiry dates and turn the job on again."]),
            (None, "e", ["The migration checklist had no step to turn the job on again.", "Nothing in the migration plan asked for the job to be restored."],
             ["Someone forgot to switch the job on again.", "This was a simple oversight by the team.", "In the end it came down to human error."]),
        ],
        "plan": {"with_skill": ["- - - - -", "- - - - b"], "without_skill": ["bcd bcd bde acd bcd", "bcd acd bcd bce bcd"]},
    },
    {
        "id": "deploy-rollback",
        "split": "holdout", "domain": "search", "difficulty": "medium", "trigger_type": "explicit",
        "success_goals": ["blameless"], "tags": ["review", "people"],
        "prompt": "Please write the post-incident review.\n\nMarcus pushed a configuration with the wrong region at 10:15 UTC. Searches from EU customers returned nothing. Elena saw the graph drop and reverted it at 10:38 UTC. Marcus says he copied the block from the US file.",
        "expected_behavior": ["Names roles, not people", "Proposes a guard rail"],
        "checks": {
            "a": A("excludes_any", "names nobody", values=["Marcus", "Elena"], severity="critical"),
            "b": A("contains_any", "refers to roles", values=["on-call engineer", "deploying engineer", "engineer on duty"]),
            "c": A("regex", "states the duration", pattern=r"\b23[ -]min"),
            "d": A("contains_any", "proposes a guard rail", values=["validation step", "validate the region", "schema check", "dry run"]),
            "e": A("not_regex", "does not assign fault", pattern=r"\b(human error|mistake|at fault|should have)\b"),
        },
        "title": ["Empty search results in the EU", "Post-incident review: EU search", "EU search returned nothing"],
        "parts": [
            ("Impact", "c", ["EU customers got empty search results for 23 minutes.", "For 23 minutes every EU search came back empty."],
             ["EU customers got no search results until the revert.", "EU searches returned nothing between 10:15 and 10:38."]),
            ("What happened", "b", ["The deploying engineer released a configuration carrying the US region; it was reverted at 10:38 UTC.", "A block copied from the US file went live; the on-call engineer reverted it at 10:38 UTC."],
             ["A configuration with the wrong region went live at 10:15 UTC and was reverted at 10:38 UTC.", "A wrong region value was released and later reverted."]),
            (None, "a", ["The drop in the graph led to the revert.", "The revert followed from the graph, not from an alert."],
             ["Elena noticed the drop and reverted Marcus's change.", "Marcus copied the block from the US file; Elena spotted it on the graph."]),
            ("Guard rail", "d", ["A validation step that compares the region with the target site.", "A schema check on region values before release.", "Validate the region in the pipeline, with a dry run for each site."],
             ["Be more careful when copying blocks between files.", "Review configuration changes more closely."]),
            (None, "e", ["The two files differ in one value and nothing compared them.", "The release path accepted any region for any site."],
             ["This was a copy and paste mistake.", "The change should have been checked before the push."]),
        ],
        "plan": {"with_skill": ["- - - - d", "- - a - -"], "without_skill": ["bd bd abd be ab", "abde bd bc be abd"]},
    },
    {
        "id": "action-items-file",
        "split": "tune", "domain": "operations", "difficulty": "medium", "trigger_type": "explicit",
        "success_goals": ["actions", "files"], "tags": ["files", "json"],
        "prompt": "The invoice mailer was slow for every customer on 4 August 2025 because two of six mail relays were out of rotation. Follow-ups: put relay checks into the deploy, write a runbook page, ask the provider for higher limits.\n\nList the follow-ups in your answer and save incident.json beside it, with the fields severity (on our scale) and open_actions (a number).",
        "expected_behavior": ["Writes the file with the house severity", "Each follow-up has an owner and a date"],
        "checks": {
            "a": A("file_exists", "saves incident.json", path="incident.json"),
            "b": A("json_field_equals", "uses the house severity", path="incident.json", field="severity", equals="SEV2", depends_on="saves incident.json"),
            "c": A("json_field_equals", "counts the open actions", path="incident.json", field="open_actions", equals=3, depends_on="saves incident.json"),
            "d": A("regex", "dates the follow-ups", pattern=r"due: 2025-\d{2}-\d{2}"),
            "e": A("regex", "gives owners by role", pattern=r"owner: [a-z]"),
            "f": A("contains", "explains the severity by the scale", value="slow for everyone", severity="soft", variants=["with_skill"]),
        },
        "title": ["Slow invoice mails, 4 August", "Invoice mailer: follow-ups", "Follow-ups for the mail relays"],
        "parts": [
            ("Impact", None, ["Invoices went out late for all customers; two of six relays were out of rotation.", "Invoice mails were delayed for all customers while two of six relays were out.", "All invoice mails of the day were delayed."], [""]),
            ("Severity", "f", ["SEV2: a core function was slow for everyone.", "SEV2, because invoicing was slow for everyone."],
             ["SEV2.", "Recorded as SEV2."]),
            (None, "de", None, None),
            ("File", "a", ["The figures are in `incident.json`.", "Saved `incident.json` beside this answer."],
             ["```json\n{\"severity\": \"high\", \"open_actions\": 3}\n```", "The JSON could hold severity \"major\" and the list above."]),
        ],
        "plan": {"with_skill": ["- - f - -", "- - - c -"], "without_skill": ["bd bde bd ade bd", "bde bd ade bde bde"]},
    },
    {
        "id": "timeline-timezone",
        "split": "tune", "domain": "logistics", "difficulty": "hard", "trigger_type": "implicit",
        "success_goals": ["timeline"], "tags": ["review", "time-zones"],
        "prompt": "Two sites noted the same outage. Please merge the notes into one timeline for the review.\n\nSydney, 18 June 2025 (AEST, ten hours ahead of UTC): 08:10 label printers stop; 08:25 first report from the floor; 09:05 print queue drained; 09:20 all clear.\nDenver, 17 June 2025 (MDT, six hours behind UTC): 16:12 scheduler restarted by the host update.",
        "expected_behavior": ["One list, one clock", "Places the Denver entry second"],
        "checks": {
            "a": A("contains_all", "converts the Sydney times", values=["22:10 UTC", "23:20 UTC"]),
            "b": A("contains", "converts the Denver time", value="22:12 UTC"),
            "c": A("regex", "puts the entries in order", pattern=r"(?s)printers stop.*scheduler.*(first report|floor reports)"),
            "d": A("regex", "states the total duration", pattern=r"\b70[ -]min|\b1 h(our)? 10"),
            "e": A("not_regex", "leaves no local clock", pattern=r"\b(AEST|MDT)\b"),
        },
        "title": ["Label printers stopped, 17 June", "Merged timeline: label printers", "Label printing outage"],
        "parts": [
            ("Impact", "d", ["Labels could not be printed for 70 minutes.", "Label printing stopped for 70 minutes at the Sydney site."],
             ["Labels could not be printed for over an hour.", "Label printing stopped for most of the first shift."]),
            (None, "abc", None, None),
            (None, "e", ["The printers themselves were never at fault.", "Printing came back without work on the printers."],
             ["Sydney entries were noted in AEST, the Denver one in MDT.", "Note that Denver logs in MDT."]),
        ],
        "plan": {"with_skill": ["- - - - -", "- d - - -"], "without_skill": ["bc de be bc be", "bc be de bc bd"]},
    },
    {
        "id": "status-page-update",
        "split": "tune", "domain": "storage", "difficulty": "easy", "trigger_type": "implicit",
        "success_goals": ["brevity", "customers"], "tags": ["status-page", "short"],
        "prompt": "Status page post, please: two sentences for customers, nothing else. Since 11:40 UTC some users cannot upload files. We found the bad storage node and are swapping it. We will post again at 12:30 UTC.",
        "expected_behavior": ["Two plain sentences", "No internal detail"],
        "checks": {
            "a": A("not_regex", "has no headings or lists", pattern=r"(?m)^(#|- |\*\*)"),
            "b": A("not_regex", "keeps to the asked length", pattern=r"[.!?]\s+[^.!?]+[.!?]\s+[^.!?]+[.!?]"),
            "c": A("not_regex", "leaves internals out", pattern=r"\b(SEV\d|node|trigger|owner)\b"),
            "d": A("regex", "announces the next update", pattern=r"(next|another|further) update[^.]*12:30"),
            "e": A("excludes_any", "promises nothing", values=["guarantee", "will not happen again"]),
        },
        "plain": True,
        "title": ["Upload errors", "Failed uploads", "Uploads failing for some users"],
        "parts": [
            ("Impact", "c", ["Since 11:40 UTC some users have been unable to upload files, and we are working on a fix.", "Some uploads have been failing since 11:40 UTC and we are replacing the faulty part.", "Some of you cannot upload files since 11:40 UTC; we have found the fault and are repairing it."],
             ["Since 11:40 UTC some users cannot upload files because of a bad storage node, which is being swapped.", "Some uploads have failed since 11:40 UTC (SEV2); the trigger is a storage node that is being swapped.", "Uploads fail for some users since 11:40 UTC, SEV2, owner: storage on-call."]),
            ("Scope", "b", [""], ["Downloads and shared links are not affected. The failure rate is being measured.", "Sign-in and downloads are not affected. No files have been lost.", "We are sorry for the trouble this causes. Files that are already stored are safe."]),
            ("Next", "d", ["The next update follows at 12:30 UTC.", "Expect another update by 12:30 UTC.", "We will share a further update at 12:30 UTC."],
             ["We will report back when uploads work again.", "More information will follow here."]),
        ],
        "plan": {"with_skill": ["ab abc ab ab -", "ab - abc ab ab"], "without_skill": ["- - c - -", "- d - - b"]},
    },
    {
        "id": "page-or-wait",
        "split": "holdout", "domain": "search", "difficulty": "easy", "trigger_type": "implicit",
        "success_goals": ["judgement"], "tags": ["short", "question"],
        "prompt": "It is 03:00. Search has been down for all customers for two hours and the fix does not hold. Do we wake the team lead? Answer in two or three lines, with the reason.",
        "expected_behavior": ["A plain yes with the reason"],
        "checks": {
            "a": A("regex", "answers first", pattern=r"\A(yes|wake)"),
            "b": A("contains_any", "gives the reason", values=["every customer", "everyone", "core function"]),
            "c": A("not_regex", "does not hedge", pattern=r"\b(it depends|maybe|perhaps)\b"),
        },
        "plain": True,
        "title": [""],
        "parts": [
            (None, "a", ["Yes, wake the lead now.", "Yes. Call the team lead.", "Yes: page the lead straight away."], [""]),
            (None, "b", ["A core function is gone and two hours of attempts have not brought it back.", "It hits everyone, and the present fix does not hold.", "It stops every customer, and a second person is needed to decide on the next step."], [""]),
            (None, "c", ["Tell them what was tried, and put a notice on the status page.", "Have the list of attempted fixes ready for the call.", "Post a short public notice while they join."], [""]),
        ],
        "plan": {"with_skill": ["- - - - -", "- - - - -"], "without_skill": ["- - - - -", "- - - - -"]},
    },
    {
        "id": "error-budget-burn",
        "split": "tune", "domain": "platform", "difficulty": "hard", "trigger_type": "explicit",
        "success_goals": ["numbers"], "tags": ["numbers", "slo"],
        "prompt": "Our objective is 99.95 percent over 30 days. On 21 May the API was down for 31 minutes, then for 40 minutes a quarter of the requests failed. Add to the summary how much of the month's budget this incident took, and what our policy says should follow.",
        "expected_behavior": ["Weights the partial outage", "Names the consequence in the policy"],
        "checks": {
            "a": A("regex", "weights the partial outage", pattern=r"\b41[ -](weighted |effective |full )?min"),
            "b": A("regex", "states the budget used", pattern=r"\b(189\.8|190) ?(%|percent)"),
            "c": A("contains_any", "names the consequence", values=["release freeze", "feature freeze", "freeze releases"]),
        },
        "title": ["API outage and the May budget", "Budget used on 21 May", "21 May: API errors"],
        "parts": [
            ("Impact", "a", ["41 weighted minutes of downtime."],
             ["The API was impaired for 71 minutes in all: 31 fully, 40 in part.", "31 minutes of full outage and 40 minutes of partial errors, 71 minutes together."]),
            ("Budget", "b", ["190 % of the budget."],
             ["The monthly budget is 21.6 minutes, so 71 minutes is about 329 % of it.", "With 21.6 minutes a month, the incident used the budget more than three times over.", "Counting only the full outage, 31 of 21.6 minutes, the budget is spent (144 %)."]),
            ("What follows", "c", ["A release freeze."],
             ["The policy text is not part of the notes; please check what it asks for.", "The team should prioritise reliability work for the rest of the month.", "A review with the service owner is recommended."]),
        ],
        "plan": {"with_skill": ["abc abc abc abc abc", "abc abc abc abc abc"], "without_skill": ["abc abc abc abc abc", "abc abc abc abc abc"]},
    },
    {
        "id": "partial-logs",
        "split": "holdout", "domain": "data", "difficulty": "hard", "trigger_type": "implicit",
        "success_goals": ["honesty", "timeline"], "tags": ["review", "uncertainty"],
        "prompt": "Summarise last night's late load for the data team.\n\n02:00 UTC load starts\n02:14 UTC 'retrying chunk 41'\n03:05 UTC 'process started'\n04:20 UTC load done (usual end 02:35)\n\nDashboards showed the day before until then. Nobody has looked at the host yet.",
        "expected_behavior": ["Says what the log does not show", "Does not guess"],
        "checks": {
            "a": A("contains_any", "leaves the cause open", values=["not yet known", "still unknown", "cause is open"]),
            "b": A("not_regex", "does not guess", pattern=r"\b(likely|probably|presumably|must have)\b"),
            "c": A("regex", "measures the silence in the log", pattern=r"\b51[ -]min"),
            "d": A("regex", "states the delay", pattern=r"\b105[ -]min|\b1 h(our)? 45"),
            "e": A("regex", "gives the next step an owner", pattern=r"owner: [a-z]"),
        },
        "title": ["Late nightly load", "Nightly load finished late", "Dashboards a day behind until 04:20 UTC"],
        "parts": [
            ("Impact", "d", ["Dashboards were a day behind for 105 minutes longer than usual.", "The load ended 105 minutes late (04:20 UTC)."],
             ["Dashboards showed old figures until 04:20 UTC.", "The load ended at 04:20 UTC, much later than usual."]),
            ("Log", "c", ["Between 02:14 and 03:05 UTC there is a 51-minute silence, then a new process.", "The log is silent for 51 minutes before the process starts again."],
             ["Chunk 41 was retried at 02:14 and a process started at 03:05.", "The log shows a retry at 02:14 UTC and a restart at 03:05 UTC."]),
            ("Cause", "a", ["Not yet known.", "Still unknown; the log alone does not tell.", "The cause is open."],
             ["The load process stopped and was started again.", "Chunk 41 blocked the load."]),
            (None, "b", ["The host has not been examined.", "Host logs for the window have not been read yet."],
             ["The process probably ran out of memory.", "The host must have restarted during the load.", "A network problem is the likely reason."]),
            ("Next step", "e", ["Read the host logs for 02:10 to 03:10 UTC; owner: data on-call, due: 2025-07-09.", "Fetch the host's restart history; owner: platform on-call, due: 2025-07-09."],
             ["Check the host.", "Someone should look at the host logs.", ""]),
        ],
        "plan": {"with_skill": ["ab - bc - acd", "b abe - bc -"], "without_skill": ["abc ce abce bc acde", "abce ae bce abe bc"]},
    },
    {
        "id": "alert-storm",
        "split": "holdout", "domain": "databases", "difficulty": "medium", "trigger_type": "explicit",
        "success_goals": ["impact", "actions"], "tags": ["review", "alerts"],
        "prompt": "Between 06:02 and 06:31 UTC the pager sent 212 alerts: 140 'replica lag', 61 'slow query', 9 'disk latency' on volume v-17 and 2 'backup late'. 'disk latency' came at 06:02, the others from 06:04. The storage team moved v-17 at 06:24. Users saw slow pages. Write the incident summary.",
        "expected_behavior": ["One cause, many symptoms", "An action against the noise"],
        "checks": {
            "a": A("contains_any", "reduces the alerts to one cause", values=["underlying", "common cause", "single cause"]),
            "b": A("regex", "names the first signal", pattern=r"first (signal|alert|sign)\b"),
            "c": A("regex", "counts the symptoms", pattern=r"\b201\b|\b95 ?(%|percent)"),
            "d": A("contains_any", "acts on the noise", values=["group the", "grouping", "deduplicat"]),
            "e": A("not_regex", "stays sober", pattern=r"\b(massive|catastrophic|huge|flood)\b"),
        },
        "title": ["Slow pages and 212 alerts", "Volume v-17: disk latency", "Alert storm, 06:02 to 06:31 UTC"],
        "parts": [
            ("Impact", None, ["Users saw slow pages for 29 minutes.", "Pages were slow from 06:02 to 06:31 UTC.", "Slow pages for all users, 06:02 to 06:31 UTC."], [""]),
            ("Cause", "a", ["The underlying fault was disk latency on v-17.", "All alerts share a single cause: v-17.", "Disk latency on v-17 is the common cause."],
             ["Disk latency, replica lag and slow queries came together.", "Several systems degraded at the same time."]),
            (None, "b", ["The first signal was 'disk latency' at 06:02 UTC.", "First alert: disk latency at 06:02 UTC."],
             ["Alerts began at 06:02 UTC.", "The pager started at 06:02 UTC."]),
            (None, "c", ["201 of 212 alerts were symptoms (lag and slow queries).", "About 95 % of the alerts were follow-on symptoms."],
             ["Most alerts were replica lag.", "140 alerts were about replica lag, 61 about slow queries."]),
            ("Action", "d", ["Group the lag alerts under the volume; owner: database on-call, due: 2025-10-17.", "Add alert grouping by volume.", "Deduplicate replica alerts when a volume is slow."],
             ["Review the alert thresholds.", "Watch v-17 after the move."]),
            (None, "e", ["Moving v-17 at 06:24 UTC ended it.", "The move of v-17 at 06:24 UTC brought latency down."],
             ["The flood of alerts ended once v-17 had been moved at 06:24 UTC.", "A massive burst of alerts hid the real problem until v-17 was moved."]),
        ],
        "plan": {"with_skill": ["c - c - c", "- c - c c"], "without_skill": ["c c - c ce", "c c c c -"]},
    },
    {
        "id": "data-exposure-notice",
        "split": "holdout", "domain": "security", "difficulty": "hard", "trigger_type": "explicit",
        "success_goals": ["customers", "honesty"], "tags": ["notice", "privacy"],
        "prompt": "Draft the notice to the customers concerned. On 9 September 2025, for 2 hours and 10 minutes, a scheduled report about 38 tenants was mailed to the list of another tenant. It held order totals and contact e-mail addresses, nothing more. Northgate Foods and Bellwether Ltd have complained. The mailing was stopped and the recipients confirmed that they deleted the report.",
        "expected_behavior": ["Plain facts first", "Says what the reader has to do", "No other customer is named"],
        "checks": {
            "a": A("regex", "says which data was not included", pattern=r"\b(no|neither) (passwords?|payment|card)\b|passwords? (was|were) not"),
            "b": A("excludes_any", "names no other customer", values=["Northgate", "Bellwether"]),
            "c": A("contains_any", "says what the reader has to do", values=["do not need to", "no action is needed", "no action from you"]),
            "d": A("contains", "gives a contact", value="privacy@example.com"),
            "e": A("not_regex", "avoids stock phrases", pattern=r"\b(rest assured|very seriously|utmost)\b"),
            "f": A("judge", "reads as honest and plain", severity="soft", threshold=4, rubric=[
                "States what was sent to whom and for how long in the first two sentences.",
                "Does not play the exposure down and does not overstate it.",
                "A reader without technical background understands every sentence.",
            ]),
        },
        "title": ["Notice about a report sent to the wrong list", "Your report data was sent to the wrong recipients", "A report with your data was misdirected"],
        "parts": [
            (None, None, ["On 9 September a scheduled report with your order totals and contact addresses was mailed to another tenant for 2 hours and 10 minutes.", "For 2 hours and 10 minutes on 9 September, a report that includes your order totals and contact addresses went to the wrong list."], [""]),
            ("What was in it", "a", ["Order totals and contact addresses; no passwords and no card data.", "It contained no payment data; passwords were not in the report."],
             ["Order totals and contact addresses.", "The report held totals and e-mail addresses only."]),
            (None, "b", ["38 tenants are concerned; each receives this notice.", "We are writing to each of the 38 tenants concerned."],
             ["Other customers, among them Northgate Foods, have already contacted us.", "Thank you to Northgate Foods and Bellwether Ltd for telling us."]),
            ("What you have to do", "c", ["You do not need to change anything; be wary of unexpected mails.", "No action is needed on your side.", "We require no action from you."],
             ["Please watch for anything unusual.", ""]),
            ("Questions", "d", ["Write to privacy@example.com.", "privacy@example.com answers within one working day."],
             ["Please contact our support team.", "Reach out to us at any time."]),
            (None, "e", ["The mailing was stopped and the recipients confirmed deletion.", "The recipients have deleted the report and confirmed it; the mailing is stopped."],
             ["Rest assured that the recipients deleted the report.", "We take the protection of your data very seriously, and the report has been deleted."]),
        ],
        "plan": {"with_skill": ["- - - - -", "- - - - -"], "without_skill": ["ad de ad ae cd", "ad ae bd cd ad"]},
    },
    {
        "id": "shift-handover",
        "template": "shifts",
        "split": "tune", "domain": "operations", "difficulty": "medium", "trigger_type": "implicit",
        "success_goals": ["handover"], "tags": ["handover", "{id}"],
        "prompt": "Write the handover note of the {site} on-call shift, which ends at {end_local}.\n\n- {item}, {name} has been on it\n- login errors of this morning: fixed, keep an eye on it",
        "expected_behavior": ["Each item has a state, an owner and a time to look again"],
        "checks": {
            "a": A("contains", "gives the end of shift in UTC", value="{end_utc}"),
            "b": A("regex", "tags the state of the items", pattern=r"\[(open|watching|mitigated)\]"),
            "c": A("contains_any", "says when to look again", values=["next check", "check again"]),
            "d": A("regex", "gives an owner by role", pattern=r"owner: [a-z]"),
            "e": A("excludes_any", "names nobody", values=["{name}"]),
        },
        "title": ["Handover {site}", "{site} shift handover", "Handover note, {site} on-call"],
        "parts": [
            ("Shift ends", "a", ["{end_utc}.", "{end_utc}; the incoming shift has the pager from then."],
             ["{end_local}.", "At {end_local} the pager moves on."]),
            (None, "b", ["[open] {item}.", "[open] {item}; consumers restarted once, no change."],
             ["{item}, still going on.", "Ongoing: {item}."]),
            (None, "e", ["The outgoing engineer has written down what was tried.", "What was tried is in the ticket."],
             ["{name} knows the details.", "Ask {name} about what was tried."]),
            (None, "d", ["Queue owner: incoming on-call engineer.", "Both items, owner: incoming shift."],
             ["Please carry on with it.", "Somebody should stay on this."]),
            (None, "c", ["Login errors are fixed; next check {check_utc}.", "Check again at {check_utc} that login errors stay at zero."],
             ["Login errors are fixed, keep an eye on them.", "Login errors of this morning: fixed."]),
        ],
        "plan": {
            "eu": {"with_skill": ["- - - - -", "- a - - -"], "without_skill": ["bd ab bc bd be", "bd bd ad be bd"]},
            "us": {"with_skill": ["- - c - -", "- - - - d"], "without_skill": ["ab b bd b bc", "b - ab be b"]},
        },
    },
]

ROWS = {
    "shifts": [
        {"id": "eu", "site": "Dublin", "end_local": "17:00 IST", "end_utc": "16:00 UTC", "check_utc": "18:00 UTC",
         "name": "Saoirse", "item": "Retry queue above 5000 messages since 15:20 local time"},
        {"id": "us", "site": "Austin", "end_local": "18:00 CDT", "end_utc": "23:00 UTC", "check_utc": "01:00 UTC",
         "name": "Diego", "item": "Replication to the standby about four minutes behind since noon"},
    ]
}

# Runs that ended badly: (case, model, arm, run) -> what is on disk.
ODD = {
    ("cert-expiry", SONNET, "with_skill", 3): "no_output",
    ("partial-logs", CODEX, "without_skill", 5): "absent",
    ("alert-storm", CODEX, "without_skill", 5): "timeout",
    ("data-exposure-notice", CODEX, "with_skill", 1): "failure",
    ("shift-handover-us", CODEX, "without_skill", 2): "empty",
}
NO_COST = {("checkout-outage", CODEX, "with_skill", 4), ("timeline-timezone", SONNET, "without_skill", 2)}

# In prose these blocks need their label; the others stand alone.
PROSE_LABELS = {"Cause", "Action", "Guard rail", "Next step", "Shift ends", "Questions", "What was in it", "What you have to do"}

OPENERS = {
    SONNET: ["Here is the summary:", "Here is a summary you can use:", "I have put the notes together below.", ""],
    CODEX: ["", "Summary:", "Draft:", ""],
}


def number(*key):
    """A stable number for a name."""
    return int.from_bytes(hashlib.sha256("/".join(map(str, (SEED,) + key)).encode()).digest()[:8], "big")


def pick(items, *key):
    return items[number(*key) % len(items)]


def fill(value, row):
    if isinstance(value, str):
        for name, cell in row.items():
            value = value.replace("{" + name + "}", str(cell))
    return value


def manifest():
    cases = []
    for case in CASES:
        keep = ("id", "template", "split", "prompt", "domain", "difficulty", "trigger_type", "success_goals", "tags", "expected_behavior")
        entry = {key: case[key] for key in keep if key in case}
        entry["assertions"] = list(case["checks"].values())
        cases.append(entry)
    return {
        "version": 2,
        "skill_name": SKILL,
        "skill_paths": [f"skills/{SKILL}/SKILL.md"],
        "variants": list(ARMS),
        "notes": "Bundled demo. The skill, the prompts and the saved answers are invented; every file is written by make_demo.py.",
        "datasets": ROWS,
        "cases": cases,
    }


def expanded():
    """(case, id, row, plan) for every case of the suite, templates filled."""
    for case in CASES:
        if "template" in case:
            for row in ROWS[case["template"]]:
                yield case, f"{case['id']}-{row['id']}", row, case["plan"][row["id"]]
        else:
            yield case, case["id"], {}, case["plan"]


def list_part(case_id, keys, misses, key):
    """The two list blocks whose entries answer several checks at once."""
    if case_id == "action-items-file":
        tasks = ["Relay checks in the deploy", "Runbook page for the relays", "Ask the provider for higher limits"]
        roles = pick([["mail team", "on-call lead", "vendor manager"], ["deploy team", "mail team", "operations lead"]], *key, "roles")
        dates = pick([["2025-08-15", "2025-08-22", "2025-08-29"], ["2025-08-11", "2025-08-18", "2025-09-01"]], *key, "dates")
        lines = []
        for task, role, date in zip(tasks, roles, dates):
            tail = "" if "e" in misses else f"; owner: {role}"
            tail += "" if "d" in misses else f"{',' if tail else ';'} due: {date}"
            lines.append(f"- {task}{tail}")
        return "\n".join(lines)
    zone = "UTC"
    stop = ("22:10 UTC", pick(["label printers stop", "printers stop at the Sydney site"], *key, 1))
    denver = ("22:12 UTC", pick(["Denver: scheduler restarted by the host update", "host update restarts the scheduler (Denver)"], *key, 2))
    report = (f"22:25 {zone}", pick(["first report from the floor", "floor reports blank labels"], *key, 3))
    rest = [(f"23:05 {zone}", "print queue drained"), (f"23:20 {zone}", pick(["all clear", "all clear given"], *key, 4))]
    if "a" in misses:
        stop, report, rest = ("08:10", stop[1]), ("08:25", report[1]), [("09:05", "print queue drained"), ("09:20", "all clear")]
    if "b" in misses:
        denver = (pick(["16:12", "00:12 UTC", "16:12 local"], *key, 5), denver[1])
    order = [stop, report] + rest + [denver] if "c" in misses else [stop, denver, report] + rest
    return "\n".join(f"- {when} {what}" for when, what in order)


def answer(case, case_id, row, model, arm, run, misses):
    key = (case_id, model, arm, run)
    house = arm == "with_skill" and not case.get("plain")
    blocks = []
    for index, (label, keys, good, bad) in enumerate(case["parts"]):
        if good is None:
            blocks.append((label, list_part(case_id, keys, misses, key)))
            continue
        if case_id == "action-items-file" and keys == "f" and arm == "without_skill":
            continue  # the plain answers do not know the scale
        phrases = bad if keys and keys in misses else good
        text = fill(pick(phrases, *key, index), row)
        if text:
            blocks.append((label, text))
    title = fill(pick(case["title"], *key, "title"), row)
    if case_id == "status-page-update" and "a" in misses:
        return f"## {title}\n\n" + "\n\n".join(f"**{label}:** {text}" for label, text in blocks) + "\n"
    if case.get("plain"):
        return ("\n" if case_id == "page-or-wait" else pick([" ", "\n"], *key, "join")).join(text for _, text in blocks) + "\n"
    if house:
        mark = "# " if model == SONNET else "## "
        lines = [f"{mark}{title}", ""]
        for label, text in blocks:
            if text.startswith(("- ", "```")):
                lines += ["", text, ""] if lines[-1] else [text, ""]
            elif model == CODEX:
                lines.append(f"- **{label}:** {text}" if label else f"- {text}")
            else:
                if label and lines[-1]:
                    lines.append("")  # a labelled line opens a paragraph
                lines.append(f"**{label}:** {text}" if label else text)
        return "\n".join(lines).rstrip("\n") + "\n"
    opener = pick(OPENERS[model], *key, "opener")
    paragraphs, current = [opener] if opener else [], []
    width = pick([2, 3], *key, "width")
    for label, text in blocks:
        if label in PROSE_LABELS:
            text = f"{label}: {text}"
        if text.startswith(("- ", "```")):
            if current:
                paragraphs.append(" ".join(current))
                current = []
            paragraphs.append(text)
            continue
        current.append(text)
        if len(current) == width:
            paragraphs.append(" ".join(current))
            current = []
    if current:
        paragraphs.append(" ".join(current))
    return "\n\n".join(paragraphs) + "\n"


def metadata(case_id, model, arm, run, text, prompt, odd):
    key = (case_id, model, arm, run)
    data = {"returncode": 0, "timed_out": False, "model": model, "runner": "demo"}
    data["elapsed_ms"] = 5200 + number(*key, "ms") % 9000 + (1400 if arm == "with_skill" else 0)
    missing = {"source": "missing"}
    if odd == "timeout":
        data.update(returncode=124, timed_out=True, elapsed_ms=300000, usage_normalized=missing, cost_normalized=missing)
        return data
    if odd == "failure":
        data.update(returncode=1, usage_normalized=missing, cost_normalized=missing)
        return data
    tokens_in = 620 + len(prompt) // 4 + number(*key, "in") % 60 + (len(SKILL_TEXT) // 4 if arm == "with_skill" else 0)
    tokens_out = 40 + len(text) // 4 + number(*key, "out") % 40
    data["usage_normalized"] = {"input_tokens": tokens_in, "output_tokens": tokens_out, "total_tokens": tokens_in + tokens_out, "source": "provider_reported"}
    if key in NO_COST:
        data["cost_normalized"] = missing
    else:
        price_in, price_out = PRICE[model]
        total = round((tokens_in * price_in + tokens_out * price_out) / 1e6, 6)
        data["cost_normalized"] = {"currency": "USD", "total_cost": total, "source": "provider_reported"}
    return data


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))


def dump(value):
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def main():
    root = Path(__file__).resolve().parent
    for name in ("evals", "skills", "runs"):
        shutil.rmtree(root / name, ignore_errors=True)
    write(root / "evals" / "shared-benchmark.json", dump(manifest()))
    write(root / "skills" / SKILL / "SKILL.md", SKILL_TEXT)
    for case, case_id, row, plan in expanded():
        for arm in ARMS:
            for model, faults in zip(MODELS, plan[arm]):
                for run, misses in enumerate(faults.split(), 1):
                    odd = ODD.get((case_id, model, arm, run))
                    if odd == "absent":
                        continue
                    base = root / "runs" / case_id / model / arm / f"run-{run}"
                    text = answer(case, case_id, row, model, arm, run, misses)
                    if odd == "timeout":
                        text = "[TIMEOUT: no answer within 300 s]\n"
                    elif odd == "failure":
                        text = "[CODEX FAILURE: the provider closed the connection]\n"
                    elif odd in ("empty", "no_output"):
                        text = ""
                    if odd != "no_output":
                        write(base / "output.md", text)
                    write(base / "metadata.json", dump(metadata(case_id, model, arm, run, text, fill(case["prompt"], row), odd)))
                    if case_id == "action-items-file" and "a" not in misses:
                        severity = pick(["high", "major", "P2"], case_id, model, run) if "b" in misses else "SEV2"
                        write(base / "incident.json", dump({"severity": severity, "open_actions": 2 if "c" in misses else 3}))


if __name__ == "__main__":
    main()
