//! Dates of the Gregorian calendar as days since 1970 (H. Hinnant, "chrono-compatible low-level date algorithms").

/// Days from 1970-01-01 to a date.
pub(crate) fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year - era * 400;
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Year, month and day of a number of days since 1970; eras of 400 years that begin in March.
pub(crate) fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// A moment in UTC to the millisecond, as the scripts of browsers write it: `2026-03-13T09:27:18.754Z`.
pub(crate) fn utc_stamp(milliseconds: i64) -> String {
    let (seconds, milliseconds) = (milliseconds.div_euclid(1_000), milliseconds.rem_euclid(1_000));
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `date -u -d @1773394038` says 2026-03-13 09:27:18.
    #[test]
    fn a_moment_as_a_browser_writes_it() {
        assert_eq!(utc_stamp(1_773_394_038_754), "2026-03-13T09:27:18.754Z");
        assert_eq!(utc_stamp(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(utc_stamp(-1), "1969-12-31T23:59:59.999Z");
        assert_eq!(utc_stamp(951_782_400_000), "2000-02-29T00:00:00.000Z");
    }

    #[test]
    fn both_ways_agree() {
        for days in (-800_000..800_000).step_by(97) {
            let (year, month, day) = civil(days);
            assert_eq!(days_since_1970(year, month, day), days);
        }
    }
}
