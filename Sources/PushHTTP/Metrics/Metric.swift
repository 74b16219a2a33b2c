/// One name at `/metrics`: what is measured, and how it is read.
package struct Metric: Hashable, Sendable {
    package enum Kind: String, Sendable {
        /// Goes up and down.
        case gauge
        /// Only goes up, from the start of the process.
        case counter
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
