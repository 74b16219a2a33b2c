import Logging
import ProviderModel
import PushHTTP
import PushStore
import PushSupport
import PushTypes
import PushWire

/// The source of legacy providers' feedback lists: the tokens of their pushes that APNs has reported as unregistered.
struct LegacyFeedbackSource: FeedbackSource {
    /// An entry of a feedback list: a token, the time at which APNs reported it as unregistered, its app and its
    /// environment.
    struct Entry: Sendable {
        var entry: LegacyToken
        var target: AppEnvironment
    }

    let directory: BinaryClientDirectory
    let store: any LegacyTokenStore
    var limits = FeedbackServerStateMachine.Limits()
    let time: any TimeSource
    let logger: Logger
    let readerQueue = FeedbackReaderQueue()

    func identify(_ certificate: [UInt8]?) async -> Result<BinaryClient, FeedbackRejection> {
        do {
            return try await self.directory.client(certificate).mapError { FeedbackRejection("\($0)") }
        } catch {
            return .failure(FeedbackRejection("the bridges cannot be read: \(error)"))
        }
    }

    func queue(of client: BinaryClient) -> Topic { client.topic }

    func topics(of client: BinaryClient) -> [Topic] { [client.topic] }

    func page(_ topic: Topic, of client: BinaryClient, after token: DeviceToken?, limit: Int) async throws -> [Entry] {
        try await self.store.feedbackList(of: client.target, after: token, limit: limit)
            .map { Entry(entry: $0, target: client.target) }
    }

    func clear(_ entries: [Entry]) async throws {
        for (target, entries) in Dictionary(grouping: entries, by: \.target) {
            try await self.store.clearFeedback(entries.map(\.entry), of: target)
        }
    }

    func tuple(_ entry: Entry) -> FeedbackTuple {
        FeedbackTuple(seconds: UInt32(clamping: entry.entry.since.seconds), token: entry.entry.token)
    }
}
