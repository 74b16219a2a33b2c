import Foundation

/// The text of a manual page in mdoc, the language of Debian's and the BSDs' pages, line by line.
struct ManualText {
    private(set) var lines: [String] = []

    /// The whole text.
    var text: String { self.lines.joined(separator: "\n") + "\n" }

    /// Adds a macro with words, such as `.Sh NAME`. Words with spaces are quoted.
    mutating func add(_ macro: String, _ words: String...) {
        let words = words.map { word in
            let text = Self.escaped(word)
            return text.contains(" ") ? "\"\(text.replacing("\"", with: "\\(dq"))\"" : text
        }
        self.lines.append(([".\(macro)"] + words).joined(separator: " "))
    }

    /// Adds a line of mdoc as it is.
    mutating func raw(_ line: String) { self.lines.append(line) }

    /// Adds a text. Each sentence begins a line, as mdoc wants it; an empty line begins a paragraph.
    mutating func paragraphs(_ text: String) {
        for (index, paragraph) in text.components(separatedBy: "\n\n").enumerated() {
            if index > 0 { self.raw(".Pp") }
            self.sentences(paragraph.replacing("\n", with: " "))
        }
    }

    /// Adds sentences, each on a line of its own.
    private mutating func sentences(_ text: String) {
        var line = ""
        for word in text.split(separator: " ") {
            line += line.isEmpty ? Self.escaped(String(word)) : " \(Self.escaped(String(word)))"
            guard let last = word.last(where: { !")'\"".contains($0) }), ".?!:;".contains(last) else { continue }
            guard last != ":", last != ";" else { continue }
            self.raw(Self.guarded(line))
            line = ""
        }
        if !line.isEmpty { self.raw(Self.guarded(line)) }
    }

    /// Adds lines as they are typed, which must not be filled.
    mutating func literal(_ text: String) {
        self.raw(".Bd -literal -offset indent")
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            self.raw(Self.guarded(Self.escaped(String(line))))
        }
        self.raw(".Ed")
    }

    /// Returns a line that does not begin a macro.
    private static func guarded(_ line: String) -> String {
        line.hasPrefix(".") || line.hasPrefix("'") ? "\\&\(line)" : line
    }

    /// Returns a text whose characters have no meaning to mdoc.
    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\e").replacing("…", with: "...").replacing("–", with: "\\(en")
    }
}
