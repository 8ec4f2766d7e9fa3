//! A small SVG writer.

use std::fmt::Write;

/// A drawing under construction. The same calls give the same bytes.
#[derive(Debug)]
pub struct Svg {
    text: String,
}

impl Svg {
    /// A drawing of this size in pixels, with a title for screen readers, and a style.
    pub fn new(width: f64, height: f64, title: &str, style: &str) -> Self {
        let mut svg = Svg {
            text: String::new(),
        };
        svg.write(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{}</title>\n\
             <style>\n{style}</style>\n",
            escaped(title)
        ));
        svg
    }

    /// A drawing that is part of a page, which has the style: `id` is unique there.
    pub fn inline(id: &str, (width, height): (f64, f64), title: &str, words: &str) -> Self {
        let mut svg = Svg {
            text: String::new(),
        };
        svg.write(format_args!(
            "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-labelledby=\"{id}-title {id}-desc\">\n<title id=\"{id}-title\">{}</title>\n\
             <desc id=\"{id}-desc\">{}</desc>\n",
            escaped(title),
            escaped(words)
        ));
        svg
    }

    /// The complete document.
    pub fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }

    /// A rectangle; `title` is its tooltip.
    pub fn rect(&mut self, class: &str, at: (f64, f64), size: (f64, f64), title: Option<&str>) {
        let ((x, y), (width, height)) = (at, size);
        self.write(format_args!(
            "<rect class=\"{class}\" x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" \
             height=\"{height:.2}\""
        ));
        self.close("rect", title);
    }

    /// A rectangle with the opacity `seen`, from 0 to 1.
    pub fn faint_rect(&mut self, class: &str, at: (f64, f64), size: (f64, f64), seen: f64) {
        let ((x, y), (width, height)) = (at, size);
        self.write(format_args!(
            "<rect class=\"{class}\" x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" \
             height=\"{height:.2}\" opacity=\"{seen:.2}\"/>\n"
        ));
    }

    /// A line between two points.
    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.write(format_args!(
            "<line class=\"{class}\" x1=\"{:.2}\" y1=\"{:.2}\" x2=\"{:.2}\" y2=\"{:.2}\"/>\n",
            from.0, from.1, to.0, to.1
        ));
    }

    /// A polyline; with `close`, the enclosed area.
    pub fn path(&mut self, class: &str, places: &[(f64, f64)], close: bool) {
        self.write(format_args!("<path class=\"{class}\" d=\""));
        for (number, (x, y)) in places.iter().enumerate() {
            let command = if number == 0 { 'M' } else { 'L' };
            self.write(format_args!("{command}{x:.1} {y:.1}"));
        }
        self.text.push_str(if close { "Z\"/>\n" } else { "\"/>\n" });
    }

    /// A text.
    pub fn text(&mut self, class: &str, at: (f64, f64), words: &str) {
        self.write(format_args!(
            "<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\n",
            at.0,
            at.1,
            escaped(words)
        ));
    }

    fn close(&mut self, tag: &str, title: Option<&str>) {
        match title {
            None => self.text.push_str("/>\n"),
            Some(title) => {
                self.write(format_args!("><title>{}</title></{tag}>\n", escaped(title)));
            }
        }
    }

    fn write(&mut self, arguments: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(arguments);
    }
}

/// Escapes text for XML and HTML.
pub fn escaped(words: &str) -> String {
    let mut text = String::with_capacity(words.len());
    for character in words.chars() {
        match character {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            '\'' => text.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => text.push('\u{fffd}'),
            _ if character.is_control() => text.push('\u{fffd}'),
            _ => text.push(character),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_cannot_become_elements() {
        let mut svg = Svg::new(9.0, 8.5, "a<b", "");
        svg.text("t", (1.0, 2.0), "</text>&\"\u{1b}\u{ffff}");
        svg.rect("r", (0.0, 0.25), (3.0, 4.0), Some("<x>"));
        let text = svg.finish();
        assert!(text.contains("<title>a&lt;b</title>"));
        assert!(text.contains(">&lt;/text&gt;&amp;&quot;\u{fffd}\u{fffd}</text>"));
        assert!(text.contains("y=\"0.25\""));
        assert!(text.contains("<title>&lt;x&gt;</title></rect>\n</svg>\n"));
    }

    #[test]
    fn paths_go_from_place_to_place() {
        let mut svg = Svg::new(1.0, 1.0, "", "");
        svg.path("p", &[(0.0, 1.0), (2.0, 3.0)], true);
        assert!(svg.finish().contains("d=\"M0.0 1.0L2.0 3.0Z\""));
    }
}
