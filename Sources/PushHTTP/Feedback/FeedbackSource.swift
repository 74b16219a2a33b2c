package import Logging
package import PushSupport
package import PushTypes
package import PushWire

/// The lists of a feedback service, and the clients that may read them (reference 6).
package protocol FeedbackSource: Sendable {
    /// A client that may read lists.
    associatedtype Identity: Sendable
    /// An entry of a feedback list.
    associatedtype Entry: Sendable

    var limits: FeedbackServerStateMachine.Limits { get }
    var time: any TimeSource { get }
    var logger: Logger { get }
    /// The queue in which the connections of one client take turns.
    var readerQueue: FeedbackReaderQueue { get }

    /// Returns the client to which a certificate belongs, or the reason for rejecting it, which is logged.
    /// - Parameter certificate: The certificate in DER; `nil` if the client has none.
    func identify(_ certificate: [UInt8]?) async -> Result<Identity, FeedbackRejection>
    /// Returns the topic on which the connections of a client take turns.
    func queue(of identity: Identity) -> Topic
    /// Returns the topics whose lists the client gets, in their order.
    func topics(of identity: Identity) -> [Topic]
    /// Returns the next entries of a topic in the order of their tokens.
    /// - Parameter token: The last token of the previous page, or `nil` for the first page.
    func page(_ topic: Topic, of identity: Identity, after token: DeviceToken?, limit: Int) async throws -> [Entry]
    /// Removes entries that a client has read, unless they have changed since.
    func clear(_ entries: [Entry]) async throws
    /// Returns the form of an entry on the wire.
    func tuple(_ entry: Entry) -> FeedbackTuple
}

/// The reason for which a client may not read feedback.
package struct FeedbackRejection: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Admits one connection at a time for each topic, so that no two connections get the same entries.
package actor FeedbackReaderQueue {
    /// The maximum number of connections that wait for the one that reads.
    private static let limit = 16

    /// The waiting connections of each topic that is being read.
    private var waiting: [Topic: [CheckedContinuation<Void, Never>]] = [:]

    package init() {}

    /// Returns `true` when it is the caller's turn, which lasts until ``leave(_:)``. Returns `false` if too many
    /// connections wait.
    package func enter(_ topic: Topic) async -> Bool {
        guard let others = self.waiting[topic] else {
            self.waiting[topic] = []
            return true
        }
        guard others.count < Self.limit else { return false }
        await withCheckedContinuation { self.waiting[topic]?.append($0) }
        return true
    }

    /// Ends the caller's turn and begins that of the next waiting connection.
    package func leave(_ topic: Topic) {
        if self.waiting[topic]?.isEmpty ?? true {
            self.waiting[topic] = nil
        } else {
            self.waiting[topic]?.removeFirst().resume()
        }
    }
}
