/// The fault of a text that is not the XML that is read here.
package struct XMLFault: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case notUTF8, notWellFormed
        /// A part of XML that is not allowed, such as a document type.
        case restricted
        /// More of something than its limit.
        case exceedsLimit
    }

    package let kind: Kind
    /// The reason, as the end of a sentence about the text.
    package let reason: String

    package init(_ kind: Kind, _ reason: String) { (self.kind, self.reason) = (kind, reason) }
}
