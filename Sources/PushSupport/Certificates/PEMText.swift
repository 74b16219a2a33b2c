/// PEM text for files and API responses.
package enum PEMText {
    /// Returns the text with a line break at its end: readers would miss another text that is appended without one.
    package static func file(_ text: String) -> String { text.hasSuffix("\n") ? text : text + "\n" }
}
