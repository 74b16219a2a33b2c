/// An event of a stream.
package enum XMPPStreamEvent: Hashable, Sendable {
    /// The peer has opened the stream. Beside the attributes of its header, `xmlns` is the default namespace.
    case streamStart(XMLElement)
    /// A whole element of the first level: a stanza, or one of the stream's own such as `features` and `error`.
    case stanza(XMLElement)
    /// The peer has closed the stream.
    case streamEnd
}
