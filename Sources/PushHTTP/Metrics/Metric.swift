/// A name at `/metrics`, with its kind and help text.
package struct Metric: Hashable, Sendable {
    /// The kind of a metric in the text format.
    package enum Kind: String, Sendable {
        case gauge, counter
    }

    package let name: String
    package let kind: Kind
    package let help: String

    package init(_ name: String, _ help: String, _ kind: Kind = .gauge) {
        self.name = name
        self.kind = kind
        self.help = help
    }
}
