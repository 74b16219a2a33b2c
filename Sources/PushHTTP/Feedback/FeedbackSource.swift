package import Logging
package import PushSupport
package import PushTypes
package import PushWire

/// The lists of unregistered tokens that a feedback service sends, and the clients that may read them (reference 6).
package protocol FeedbackSource: Sendable {
    associatedtype Identity: Sendable
    associatedtype Entry: Sendable

    var limits: FeedbackServerStateMachine.Limits { get }
    var time: any TimeSource { get }
    var logger: Logger { get }
    /// The queue in which the connections for the same topic take turns.
    var readerQueue: FeedbackReaderQueue { get }

    /// Returns the identity of the client to which a certificate belongs, or the reason for rejecting it, which is
    /// logged.
    /// - Parameter certificate: The certificate in DER, or `nil` if the client presented none.
    func identify(_ certificate: [UInt8]?) async -> Result<Identity, FeedbackRejection>
    /// Returns the topic under which the client's connections queue in ``readerQueue``.
    func queue(of identity: Identity) -> Topic
    /// Returns the topics whose feedback lists, which contain unregistered tokens, are sent to the client, in this
    /// order.
    func topics(of identity: Identity) -> [Topic]
    /// Returns the next entries of a topic's feedback list, at most `limit`, in the order of their tokens.
    /// - Parameter token: The last token of the previous page, or `nil` for the first page.
    func page(_ topic: Topic, of identity: Identity, after token: DeviceToken?, limit: Int) async throws -> [Entry]
    /// Removes the entries that a client has read from its feedback list, except those that have changed since.
    func clear(_ entries: [Entry]) async throws
    /// Returns an entry in the form in which it is sent: a time and a token.
    func tuple(_ entry: Entry) -> FeedbackTuple
}

/// The reason why a client may not read feedback lists.
package struct FeedbackRejection: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// A queue that admits one connection at a time for each topic, so that no two connections are sent the same entries.
package actor FeedbackReaderQueue {
    /// The maximum number of connections that wait behind the one that is admitted. Further ones are rejected.
    private static let limit = 16

    private var waiting: [Topic: [CheckedContinuation<Void, Never>]] = [:]

    package init() {}

    /// Waits for the caller's turn, which lasts until ``leave(_:)``, and returns `true`. Returns `false` immediately if
    /// too many connections are waiting.
    package func enter(_ topic: Topic) async -> Bool {
        guard let others = self.waiting[topic] else {
            self.waiting[topic] = []
            return true
        }
        guard others.count < Self.limit else { return false }
        await withCheckedContinuation { self.waiting[topic]?.append($0) }
        return true
    }

    /// Ends the caller's turn, and begins the turn of the next waiting connection.
    package func leave(_ topic: Topic) {
        if self.waiting[topic]?.isEmpty ?? true {
            self.waiting[topic] = nil
        } else {
            self.waiting[topic]?.removeFirst().resume()
        }
    }
}
