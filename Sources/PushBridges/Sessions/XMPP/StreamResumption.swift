/// The state with which an XMPP stream is resumed on another connection (XEP-0198 section 5).
package struct StreamResumption: Hashable, Sendable {
    /// The server's id of the stream.
    var id: String
    /// The stanzas that were handled, counted modulo 2^32.
    var received: UInt32 = 0
    /// The stanzas that the server has acknowledged.
    var acknowledged: UInt32 = 0
    /// The stanzas that were sent after those.
    var unacknowledged: [String] = []
    /// The full JID of this client.
    var jid: String
    /// The user's other clients at which they are present.
    var present: Set<String> = []
}
