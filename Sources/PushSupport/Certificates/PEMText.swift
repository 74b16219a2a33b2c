/// Text in PEM as it is written to files and handed out.
package enum PEMText {
    /// The text with a line break at its end: without one, the next text in the same file is not found.
    package static func file(_ text: String) -> String { text.hasSuffix("\n") ? text : text + "\n" }
}
