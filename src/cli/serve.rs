//! Serving the review page: the line that says where, and the end at Ctrl-C. `render-viewer --serve` calls it.

use std::net::TcpListener;
use std::process::ExitCode;

use skill_lift_text::screen::visible;

use super::interrupt;
use super::output::{emit, fail};
use crate::runs::index::shown_path;
use crate::serve::{Site, serve};

/// Serves a page until Ctrl-C, which is how serving ends well: exit code 0. A second Ctrl-C ends at once.
pub fn run(listener: &TcpListener, site: &Site<'_>) -> ExitCode {
    let stop = interrupt::stop_in_order();
    let address = match listener.local_addr() {
        Ok(address) => address,
        Err(error) => return fail(&format!("cannot serve the page: {error}")),
    };
    let feedback = visible(&shown_path(site.feedback.path()), false);
    let line = format!("serving review on http://{address} (feedback -> {feedback}); Ctrl-C to stop\n");
    if let Err(message) = emit(None, |writer| writer.write_all(line.as_bytes())) {
        return fail(&message);
    }
    match serve(listener, site, stop) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&format!("cannot serve the page: {error}")),
    }
}
