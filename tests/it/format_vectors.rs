//! Numbers as people read them: the same vectors as the script of the review page, `tests/browser/format-vectors.json`.

use std::fs;

use rust_decimal::Decimal;
use serde_json::Value;
use skill_lift::report::{numbers, quantities};
use skill_lift_contract::telemetry::Currency;
use skill_lift_stats::rational::{self, Rational};

use crate::support::repository;

/// The decimal that is written.
fn decimal(value: &Value) -> Rational {
    rational::parse_decimal(&value.to_string()).unwrap()
}

/// What this program writes; `None` for formats that only the script has.
fn written(kind: &str, inputs: &[Value]) -> Option<String> {
    let number = |at: usize| inputs[at].as_f64().unwrap();
    let money = || {
        let currency = Currency::parse(inputs[1].as_str().unwrap()).unwrap();
        (inputs[0].to_string().parse::<Decimal>().unwrap(), currency)
    };
    Some(match kind {
        "rate" => numbers::percent(&decimal(&inputs[0])),
        "points" => numbers::points(&decimal(&inputs[0])),
        "whole_points" => numbers::whole_points(&decimal(&inputs[0])),
        "interval" => numbers::interval(number(0), number(1)),
        "p" => numbers::p_text(number(0), number(1)),
        "money" => quantities::money(money().0, money().1),
        "money_difference" => quantities::money_difference(money().0, money().1),
        "tokens" => quantities::tokens(inputs[0].as_u64().unwrap().into()),
        "token_difference" => quantities::token_difference(number(0)),
        "time" => quantities::time(number(0)),
        "time_difference" => quantities::time_difference(number(0)),
        "size" => quantities::size(inputs[0].as_u64().unwrap()),
        "count" => numbers::count(inputs[0].as_u64().unwrap() as usize),
        "whole_interval" => return None,
        other => panic!("{other}"),
    })
}

#[test]
fn numbers_read_as_in_the_script_of_the_page() {
    let text = fs::read_to_string(repository("tests/browser/format-vectors.json")).unwrap();
    let vectors: Vec<Vec<Value>> = serde_json::from_str(&text).unwrap();
    let mut tested = 0;
    for vector in &vectors {
        let [kind, inputs @ .., expected] = vector.as_slice() else { panic!("{vector:?}") };
        if let Some(written) = written(kind.as_str().unwrap(), inputs) {
            assert_eq!(written, expected.as_str().unwrap(), "{vector:?}");
            tested += 1;
        }
    }
    assert!(tested >= 60, "{tested} of {}", vectors.len());
}
