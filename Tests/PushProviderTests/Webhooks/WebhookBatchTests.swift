import Foundation
import ProviderModel
import PushTypes
import Testing

@testable import PushProvider

@Suite struct WebhookBatchTests {
    let id = UUID()

    @Test func blocksFollowEachOtherInOneBody() throws {
        let batch = try #require(WebhookBatch([self.block(3, "1,2"), self.block(5, ""), self.block(9, "3")]))
        #expect(batch.last == 9)
        #expect(batch.id(webhook: self.id) == "\(self.id.uuidString.lowercased()).3-9")
        let body = String(decoding: batch.body(webhook: self.id, app: "com.example.MyApp"), as: UTF8.self)
        #expect(body == #"{"id":"\#(batch.id(webhook: self.id))","app":"com.example.MyApp","events":[1,2,3]}"#)
    }

    @Test func nothingIsNoBatchAndEmptyBlocksAreAnEmptyOne() throws {
        #expect(WebhookBatch([]) == nil)
        let empty = try #require(WebhookBatch([self.block(1, ""), self.block(2, "")]))
        #expect(empty.isEmpty)
        #expect(empty.last == 2)
    }

    @Test func aBodyEndsBeforeTheBlockThatWouldBeTooMuch() throws {
        let half = String(repeating: "1", count: WebhookBatch.maximumLength / 2)
        #expect(WebhookBatch([self.block(1, half), self.block(2, half), self.block(3, "1")])?.last == 2)
        #expect(WebhookBatch([self.block(1, half + half + "1"), self.block(2, "1")])?.last == 1)
        #expect(WebhookBatch((1...1000).map { self.block($0, "1") })?.last == 500)
    }

    @Test func aRepetitionEndsWhereThePostEnded() throws {
        let blocks = (1...5).map { self.block($0, "1") }
        #expect(WebhookBatch(blocks, through: 3)?.last == 3)
        #expect(WebhookBatch(blocks, through: 9)?.last == 5)
    }

    @Test func aReaderFillsAPostWithoutReadingMuchMore() async throws {
        let store = MemoryWebhookStore()
        for number in 1...600 { store.addBlock(number...number) }
        let webhook = WebhookRecord.fixture(port: 1)
        let first = try #require(try await WebhookReader(store: store).next(for: webhook))
        #expect(first.first == 1)
        #expect(first.last == 500)
        #expect(store.largestRead <= 16)
        var moved = webhook
        moved.cursor = 600
        #expect(try await WebhookReader(store: store).next(for: moved) == nil)
    }

    @Test func aReaderTakesOnlyTheWantedKinds() async throws {
        let store = MemoryWebhookStore()
        store.addBlock(1...1, kind: .delivery)
        store.addBlock(2...2, kind: .token)
        store.addBlock(3...3, app: 2, kind: .token)
        var webhook = WebhookRecord.fixture(port: 1)
        webhook.events = [.token]
        let batch = try #require(try await WebhookReader(store: store).next(for: webhook))
        #expect(ScriptedReceiver.numbers(in: batch.body(webhook: webhook.id, app: "a")) == [2])
    }

    private func block(_ id: Int64, _ events: String) -> EventBlock {
        EventBlock(id: id, kind: .delivery, at: Timestamp(seconds: 0), events: Data(events.utf8))
    }
}

extension WebhookRecord {
    /// A webhook of app 1 that wants everything, at this port of this host.
    static func fixture(port: Int, host: String = "127.0.0.1", at: Timestamp = Timestamp(seconds: 1_700_000_000))
        -> Self
    {
        WebhookRecord(
            id: UUID(),
            app: 1,
            url: "http://\(host):\(port)/hook?key=1",
            secret: WebhookSecret.make(),
            events: [.delivery, .token],
            createdAt: at
        )
    }
}
