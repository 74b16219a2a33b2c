import Foundation
import ProviderModel
import PushStore
import PushSupport

/// The payload of one request to a webhook: whole blocks of events, in order.
struct WebhookBatch: Hashable, Sendable {
    /// The size in bytes at which no further block is added. A larger block is sent alone.
    static let maximumLength = 256 * 1024
    static let maximumBlocks = 500

    /// The ids of the first and (`last`) the last block.
    let first: Int64
    let last: Int64
    /// The JSON texts of the events, separated by commas. The data is empty if there are no events.
    private let events: Data

    /// Creates a batch of as many blocks as fit into one request, or returns `nil` if there are no blocks.
    /// - Parameters:
    ///   - blocks: The blocks in the order of their ids.
    ///   - last: The last block of a failed request, which is repeated unchanged, or `nil` if there is none.
    init?(_ blocks: [EventBlock], through last: Int64? = nil) {
        guard let first = blocks.first else { return nil }
        var events = first.events
        var end = first.id
        for block in blocks.dropFirst().prefix(Self.maximumBlocks - 1) {
            guard block.id <= last ?? .max, Self.fits(block.events.count, after: events.count) else { break }
            if !events.isEmpty, !block.events.isEmpty { events.append(UInt8(ascii: ",")) }
            events.append(block.events)
            end = block.id
        }
        (self.first, self.last, self.events) = (first.id, end, events)
    }

    var isEmpty: Bool { self.events.isEmpty }

    /// Returns the id of the request to a webhook.
    ///
    /// It is the same for the same blocks, so that a receiver recognizes a repetition. It contains the ids of the first
    /// and the last block, so that a replay can begin with one of them.
    func id(webhook: UUID) -> String { "\(webhook.uuidString.lowercased()).\(self.first)-\(self.last)" }

    /// Returns the request body, `{"id":…,"app":…,"events":[…]}`.
    /// - Parameter app: The bundle id of the app.
    func body(webhook: UUID, app: String) -> Data {
        var json = JSONWriter(capacity: self.events.count + 256)
        json.raw(#"{"id":"#)
        json.string(self.id(webhook: webhook))
        json.raw(#","app":"#)
        json.string(app)
        json.raw(#","events":["#)
        json.raw(self.events)
        json.raw("]}")
        return Data(json.bytes)
    }

    private static func fits(_ length: Int, after taken: Int) -> Bool { taken + length <= Self.maximumLength }
}

extension EventBlock {
    /// The block with its token events encoded as text.
    fileprivate var rendered: EventBlock {
        guard !self.tokens.isEmpty else { return self }
        var events = WebhookEventEncoder(expected: self.tokens.count)
        for token in self.tokens { events.append(token) }
        var block = self
        block.events = events.data
        block.tokens = []
        return block
    }
}

/// Reads the blocks of the next request to a webhook, and only a few more than fit into it.
///
/// The size of a block is not known before it is read: campaigns have large blocks, and single pushes have small ones.
struct WebhookReader: Sendable {
    private static let firstRead = 2
    /// The maximum number of blocks in each further read. A block may be as large as 1.5 MB.
    private static let maximumRead = 16

    private let store: any WebhookStore

    init(store: any WebhookStore) { self.store = store }

    /// Returns the payload of the next request to `webhook`, or `nil` if it has received all events.
    /// - Parameter last: The last block of a failed request, which is repeated unchanged, or `nil` if there is none.
    func next(for webhook: WebhookRecord, through last: Int64? = nil) async throws -> WebhookBatch? {
        var blocks: [EventBlock] = []
        var length = 0
        var limit = Self.firstRead
        while limit > 0 {
            let read = try await self.store.eventBlocks(
                app: webhook.app,
                kinds: webhook.events,
                after: blocks.last?.id ?? webhook.cursor,
                limit: limit
            )
            .map(\.rendered)
            blocks += read
            length += read.reduce(0) { $0 + $1.events.count }
            guard read.count == limit, length < WebhookBatch.maximumLength else { break }
            let average = max(1, length / blocks.count)
            let missing = (WebhookBatch.maximumLength - length) / average + 1
            limit = min(missing, Self.maximumRead, WebhookBatch.maximumBlocks - blocks.count)
        }
        return WebhookBatch(blocks, through: last)
    }
}
