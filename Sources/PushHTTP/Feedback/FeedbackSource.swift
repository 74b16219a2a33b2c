package import Logging
package import PushSupport
package import PushTypes
package import PushWire

/// The lists of a feedback service, and the clients that may read them (reference 6).
package protocol FeedbackSource: Sendable {
    /// A client that may read.
    associatedtype Identity: Sendable
    /// An entry of a list.
    associatedtype Entry: Sendable

    var limits: FeedbackServerStateMachine.Limits { get }
    var time: any TimeSource { get }
    var logger: Logger { get }
    /// The turns of the connections of one client.
    var readerQueue: FeedbackReaderQueue { get }

    /// Returns the client with a certificate, or the reason to reject it, for the log.
    /// - Parameter certificate: The certificate in DER; `nil` if the client has none.
    func identify(_ certificate: [UInt8]?) async -> Result<Identity, FeedbackRejection>
    /// Returns the topic whose readers take turns.
    func queue(of identity: Identity) -> Topic
    /// Returns the topics whose lists the client gets, in their order.
    func topics(of identity: Identity) -> [Topic]
    /// Returns the next entries of a topic in the order of their tokens.
    /// - Parameter token: The last token of the page before; `nil` for the first page.
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
