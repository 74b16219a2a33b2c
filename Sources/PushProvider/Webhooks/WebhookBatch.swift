package import Foundation
package import PushStore

/// What one post to a webhook carries: whole blocks of events, in order.
package struct WebhookBatch: Hashable, Sendable {
    /// A body stops growing here, in bytes. A block that is larger goes alone.
    package static let maximumLength = 256 * 1024
    package static let maximumBlocks = 500

    /// The ids of the first and the last block.
    package let first: Int64
    package let last: Int64
    /// Events' JSON texts with commas between them; empty if there is nothing to tell.
    private let events: Data

    /// As many of `blocks` as one post may carry; `nil` if there is none.
    /// - Parameters:
    ///   - blocks: in the order of their ids.
    ///   - last: the last block of a post that failed, which is repeated as it was.
    package init?(_ blocks: [EventBlock], through last: Int64? = nil) {
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

    package var isEmpty: Bool { self.events.isEmpty }

    /// The post's id: the same for the same blocks, so that a receiver knows a repetition, and names the blocks, so that
    /// a replay can begin there.
    package func id(webhook: UUID) -> String {
        "\(webhook.uuidString.lowercased()).\(self.first)-\(self.last)"
    }

    /// `{"id":…,"app":…,"events":[…]}`.
    /// - Parameter app: the bundle id.
    package func body(webhook: UUID, app: String) -> Data {
        var json = JSONBytes()
        json.reserve(self.events.count + 256)
        json.raw(#"{"id":"#)
        json.string(self.id(webhook: webhook))
        json.raw(#","app":"#)
        json.string(app)
        json.raw(#","events":["#)
        json.raw(self.events)
        json.raw("]}")
        return Data(json.bytes)
    }

    private static func fits(_ length: Int, after taken: Int) -> Bool {
        taken + length <= Self.maximumLength
    }
}

extension EventBlock {
    /// With what was done to tokens as text.
    fileprivate var written: EventBlock {
        guard !self.tokens.isEmpty else { return self }
        var events = WebhookEvents(expected: self.tokens.count)
        for token in self.tokens { events.append(token) }
        var block = self
        block.events = events.data
        block.tokens = []
        return block
    }
}

/// Reads blocks of unknown size until a post is full, without reading many more: a campaign's blocks are large, those of
/// single pushes small.
package struct WebhookReader: Sendable {
    /// Blocks of the first read.
    private static let firstRead = 2
    /// Blocks of one of the following reads: a block may be 1.5 MB.
    private static let maximumRead = 16

    private let store: any WebhookStore

    package init(store: any WebhookStore) {
        self.store = store
    }

    /// The next post of `webhook`, or `nil` if it has been told everything.
    /// - Parameter last: the last block of a post that failed, which is repeated as it was.
    package func next(for webhook: WebhookRecord, through last: Int64? = nil) async throws -> WebhookBatch? {
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
            .map(\.written)
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
