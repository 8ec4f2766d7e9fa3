//! A page of HTML about one run, or about two beside each other. It needs no network and no
//! script; behind each picture stands a table with the same figures.

mod pictures;
mod tables;

use super::figures::{different_commands, faster};
use super::limit::explanation;
use super::plot;
use super::summary::{described, printable, verdict};
use super::svg::escaped;
use super::Named;
use std::fmt::Write;

/// What the page adds to the style of the pictures. Text has a contrast of 7 to 1 and more.
const STYLE: &str = "\
:root{color-scheme:light dark}
body{margin:0;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;\
color:#14181f;background:#ffffff}
main{max-width:60rem;margin:0 auto;padding:1rem}
h1{font-size:1.6rem;line-height:1.25}
h2{font-size:1.2rem;margin-top:2.2rem}
p,h1,h2,h3{overflow-wrap:anywhere}
.scrolled{overflow-x:auto}
.scrolled:focus-visible,summary:focus-visible{outline:3px solid #2f6fd0;outline-offset:2px}
svg{display:block;width:100%;min-width:44rem;height:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
caption{text-align:left;color:#3d4450;padding-bottom:.3rem}
th,td{padding:.2rem .8rem .2rem 0;text-align:right;white-space:nowrap;border-bottom:1px solid #d4d8df}
th:first-child{text-align:left}
thead th{white-space:normal;vertical-align:bottom}
details{margin-top:.5rem}
.verdict{font-weight:600}
@media (prefers-color-scheme:dark){
body{color:#eef1f6;background:#14171c}
caption{color:#b9c0cc}
th,td{border-color:#353b46}
.scrolled:focus-visible,summary:focus-visible{outline-color:#6ea8ff}
}
@media print{svg{min-width:0}}
";

/// The page about one run, or two: then the second is compared with the first. The same statistics
/// give the same bytes.
pub fn page(first: Named<'_>, second: Option<Named<'_>>) -> String {
    let runs: Vec<Named<'_>> = [Some(first), second].into_iter().flatten().collect();
    let title = match second {
        None => format!("What the workers did: {}", printable(first.name)),
        Some(second) => format!(
            "Two runs compared: {} and {}",
            printable(first.name),
            printable(second.name)
        ),
    };
    let mut html = Html::default();
    let pictures = plot::STYLE;
    html.add(format_args!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{pictures}{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n",
        title = escaped(&title)
    ));
    findings(&mut html, &runs);
    tables::figures(&mut html, &runs);
    html.heading("Where the workers' time went");
    pictures::times(&mut html, &runs);
    tables::times(&mut html, &runs);
    html.heading("Stages");
    tables::stages(&mut html, &runs);
    let axes = pictures::Axes::of(&runs);
    html.heading("Queue");
    each(&mut html, &runs, |html, number, run| {
        pictures::queue(html, number, run, &axes);
        tables::queue(html, run);
    });
    html.heading("Workers");
    each(&mut html, &runs, |html, number, run| {
        pictures::workers(html, number, run, &axes);
        tables::workers(html, run);
    });
    html.heading("Latencies");
    each(&mut html, &runs, |html, number, run| {
        pictures::latency(html, number, run, &axes);
        tables::latency(html, run);
    });
    html.add(format_args!("</main>\n</body>\n</html>\n"));
    html.text
}

/// What limited each run, first.
fn findings(html: &mut Html, runs: &[Named<'_>]) {
    if let [first, second] = runs {
        html.paragraph("verdict", &faster(*first, *second));
        if let Some(words) = different_commands(*first, *second) {
            html.paragraph("verdict", &words);
        }
    }
    for run in runs {
        let name = match runs.len() {
            1 => String::new(),
            _ => printable(run.name) + ": ",
        };
        html.paragraph("verdict", &(name.clone() + &explanation(run.statistics)));
        html.paragraph("", &(name.clone() + &verdict(run.statistics)));
        if let Some(words) = described(run.statistics) {
            html.paragraph("", &(name + &words));
        }
    }
}

/// A part of the page for each run, under its name if there are several.
fn each(html: &mut Html, runs: &[Named<'_>], add: impl Fn(&mut Html, usize, &Named<'_>)) {
    for (number, run) in runs.iter().enumerate() {
        if runs.len() > 1 {
            let name = escaped(&printable(run.name));
            html.add(format_args!("<h3>{name}</h3>\n"));
        }
        add(html, number, run);
    }
}

/// The page under construction.
#[derive(Default)]
struct Html {
    text: String,
}

impl Html {
    /// Adds markup: what comes from a file must have been escaped.
    fn add(&mut self, markup: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(markup);
    }

    fn heading(&mut self, words: &str) {
        self.add(format_args!("<h2>{}</h2>\n", escaped(words)));
    }

    fn paragraph(&mut self, class: &str, words: &str) {
        self.add(format_args!(
            "<p class=\"{class}\">{}</p>\n",
            escaped(words)
        ));
    }

    /// A picture or a table that scrolls by itself where it is too wide, also by keyboard.
    fn scrolled(&mut self, label: &str, markup: &str) {
        self.add(format_args!(
            "<div class=\"scrolled\" role=\"group\" tabindex=\"0\" aria-label=\"{}\">\n{markup}</div>\n",
            escaped(label)
        ));
    }

    /// A table; the first cell of each row is its heading.
    fn table(&mut self, caption: &str, head: &[&str], rows: &[Vec<String>]) {
        let mut table = Html::default();
        table.add(format_args!(
            "<table>\n<caption>{}</caption>\n<thead><tr>",
            escaped(caption)
        ));
        for cell in head {
            table.add(format_args!("<th scope=\"col\">{}</th>", escaped(cell)));
        }
        table.add(format_args!("</tr></thead>\n<tbody>\n"));
        for row in rows {
            table.add(format_args!("<tr>"));
            for (column, cell) in row.iter().enumerate() {
                let cell = escaped(cell);
                match column {
                    0 => table.add(format_args!("<th scope=\"row\">{cell}</th>")),
                    _ => table.add(format_args!("<td>{cell}</td>")),
                }
            }
            table.add(format_args!("</tr>\n"));
        }
        table.add(format_args!("</tbody>\n</table>\n"));
        self.scrolled(caption, &table.text);
    }

    /// A table that is shown when it is asked for.
    fn folded_table(&mut self, caption: &str, head: &[&str], rows: &[Vec<String>]) {
        self.add(format_args!(
            "<details>\n<summary>{} as a table</summary>\n",
            escaped(caption)
        ));
        self.table(caption, head, rows);
        self.add(format_args!("</details>\n"));
    }
}

#[cfg(test)]
mod tests;
