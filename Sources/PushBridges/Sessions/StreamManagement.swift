/// The counters and unacknowledged stanzas with which an XMPP stream is resumed on another connection (stream
/// management, XEP-0198).
package struct StreamManagement: Hashable, Sendable {
    /// The maximum number of unacknowledged stanzas that are kept. A session that sends more of them fails.
    private static let maximumWaiting = 64
    /// The number of unacknowledged stanzas at which the session stops replying to queries.
    private static let maximumAnswers = 32

    /// The server's id for the stream, or `nil` if the stream cannot be resumed.
    var id: String?
    var jid: String
    var present: Set<String> = []
    private(set) var received: UInt32 = 0
    private(set) var acknowledged: UInt32 = 0
    /// The sent stanzas that the server has not acknowledged.
    private(set) var waiting: [String] = []

    init(jid: String) { self.jid = jid }

    mutating func countReceived() { self.received &+= 1 }

    /// Keeps a sent stanza until it is acknowledged. Returns `false` if too many are unacknowledged.
    mutating func keep(_ stanza: String) -> Bool {
        guard self.waiting.count < Self.maximumWaiting else { return false }
        self.waiting.append(stanza)
        return true
    }

    /// A Boolean value that indicates whether the session may reply to a query. It does not reply while so many stanzas
    /// are unacknowledged that little room is left for the session's own stanzas.
    var takesAnswers: Bool { self.waiting.count < Self.maximumAnswers }

    /// Applies an acknowledgement from the server. Returns `false` if it covers stanzas that were never sent.
    mutating func acknowledge(_ count: UInt32) -> Bool {
        let new = count &- self.acknowledged
        guard new <= UInt32(clamping: self.waiting.count) else { return false }
        self.waiting.removeFirst(Int(new))
        self.acknowledged = count
        if self.waiting.isEmpty { self.waiting = [] }
        return true
    }
}
