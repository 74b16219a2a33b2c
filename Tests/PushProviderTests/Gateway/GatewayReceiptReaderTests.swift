import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushProvider

/// Receipts from the events of a gateway, which is a server with a log in memory.
@Suite(.timeLimit(.patience)) struct GatewayReceiptReaderTests {
    private static let apnsID = DeliveryID(notification: UUID()).text(recipient: 42)

    private static func event(_ name: String, _ apnsID: String?) -> GatewayEvent {
        GatewayEvent(id: 7, name: name, text: name, at: Vectors.issuedAt, apnsID: apnsID)
    }

    @Test(arguments: ["delivered", "delivered_from_storage"])
    func aDeliveryIsAReceiptWithTheIDOfThePush(name: String) throws {
        let entry = try #require(GatewayReceiptReader.entry(Self.event(name, Self.apnsID)))
        let id = try #require(DeliveryID.parse(Self.apnsID))
        #expect(entry.subject == .delivery(id.notification, recipient: 42))
        #expect(entry.receipt.event == .delivered && entry.receipt.at == Vectors.issuedAt)
        let again = GatewayReceiptReader.entry(Self.event("delivered", Self.apnsID.uppercased()))
        #expect(again?.receipt.id == entry.receipt.id, "so that a repetition counts once")
    }

    @Test(arguments: [
        ("received", Self.apnsID), ("stored_offline", Self.apnsID), ("expired", Self.apnsID), ("", Self.apnsID),
        ("delivered", nil), ("delivered", ""), ("delivered", "x"), ("delivered", UUID().uuidString),
        ("delivered", String(repeating: "8", count: 100_000)),
    ])
    func otherEventsAreNone(name: String, apnsID: String?) {
        #expect(GatewayReceiptReader.entry(Self.event(name, apnsID)) == nil)
    }

    @Test func pagesAreReadOnceAndInOrder() async throws {
        let log = EventLog(count: GatewayReceiptReader.page + 3)
        try await log.serve { receipts, store in
            let isFull = try await receipts.readPage()
            #expect(isFull)
            _ = try await receipts.readPage()
            _ = try await receipts.readPage()
            #expect(store.entries.count == log.current)
            log.count.withLock { $0 += 1 }
            _ = try await receipts.readPage()
            #expect(store.entries.count == log.current)
        }
    }

    @Test func aPageThatIsNotWrittenIsReadAgain() async throws {
        let log = EventLog(count: 3)
        try await log.serve { receipts, store in
            store.fails.withLock { $0 = true }
            await #expect(throws: StoreError.self) { try await receipts.readPage() }
            store.fails.withLock { $0 = false }
            _ = try await receipts.readPage()
            #expect(store.entries.map(\.receipt.id).count == 6)
            #expect(Set(store.entries.map(\.receipt.id)).count == 3, "the same ids, which count once")
        }
    }

    /// A gateway with a new data directory numbers its events from the start.
    @Test func aNewLogIsReadFromItsStart() async throws {
        let log = EventLog(count: 9)
        try await log.serve { receipts, store in
            _ = try await receipts.readPage()
            log.count.withLock { $0 = 2 }
            _ = try await receipts.readPage()
            _ = try await receipts.readPage()
            #expect(store.entries.count == 9 + 2)
        }
    }

    /// It has as many events as the old one had, or more, before it is read for the first time.
    @Test(arguments: [9, 12, GatewayReceiptReader.page + 9])
    func aNewLogThatIsPastTheOldPlaceIsReadFromItsStart(count: Int) async throws {
        let log = EventLog(count: 9)
        try await log.serve { receipts, store in
            _ = try await receipts.readPage()
            log.begin(count: count)
            for _ in 1...4 { _ = try await receipts.readPage() }
            #expect(store.entries.count == 9 + count)
        }
    }

    /// The event that was read last is gone, as a log keeps the newest ones, or as the gateway was killed.
    @Test func aLogWithoutTheLastEventGoesOn() async throws {
        let log = EventLog(count: 9)
        try await log.serve { receipts, store in
            _ = try await receipts.readPage()
            log.lost.withLock { $0 = 5...10 }
            log.count.withLock { $0 = 12 }
            for _ in 1...2 { _ = try await receipts.readPage() }
            #expect(store.entries.count == 9 + 2)
        }
    }

    @Test(arguments: ["", "nonsense", "{}", #"{"events":[{"id":9223372036854775807}]}"#, #"{"events":[7]}"#])
    func garbageMakesNoReceipt(body: String) async throws {
        let store = RecordingReceiptStore()
        try await RawServer.run(responding: { _ in RawServer.response(body) }) { port in
            let receipts = try Self.receipts(port: port, store)
            // Nothing is read, or it is an error that is logged.
            for _ in 0..<2 { _ = try? await receipts.readPage() }
        }
        #expect(store.entries.isEmpty)
    }

    private static func receipts(port: Int, _ store: RecordingReceiptStore) throws -> GatewayReceiptReader {
        let gateway = try #require(GatewayEventClient(url: "http://127.0.0.1:\(port)")?.patient)
        let writer = ReceiptWriter(
            store: store,
            events: WakeSignal(),
            places: Budget(.receipts),
            time: ManualTime(Vectors.issuedAt)
        )
        return GatewayReceiptReader(gateway: gateway, store: store, writer: writer, logger: silentLogger)
    }

    /// A log of a gateway with a number of deliveries.
    private final class EventLog: Sendable {
        let count: Mutex<Int>
        /// The events that are not in the log any more.
        let lost = Mutex<ClosedRange<Int>?>(nil)
        /// The time of all events, in milliseconds.
        private let time = Mutex<Int64>(1_700_000_000_000)
        private let id = DeliveryID(notification: UUID())

        init(count: Int) { self.count = Mutex(count) }

        /// The number of deliveries that were made.
        var current: Int { self.count.withLock(\.self) }

        /// Begins a new log, whose events have another time.
        func begin(count: Int) {
            self.time.withLock { $0 -= 1000 }
            self.count.withLock { $0 = count }
        }

        /// Serves the log for the duration of `body`.
        func serve(_ body: (GatewayReceiptReader, RecordingReceiptStore) async throws -> Void) async throws {
            let store = RecordingReceiptStore()
            try await RawServer.run(responding: { self.page($0) }) { port in
                try await body(try GatewayReceiptReaderTests.receipts(port: port, store), store)
            }
        }

        /// Returns the response to `GET /v1/events?after=…&limit=…`.
        private func page(_ request: String) -> String? {
            guard let match = request.firstMatch(of: #/GET /v1/events\?after=([0-9]+)&limit=([0-9]+) /#),
                let after = Int(match.1), let limit = Int(match.2)
            else { return nil }
            let (count, time, lost) = (self.current, self.time.withLock(\.self), self.lost.withLock(\.self))
            let kept = after < count ? (after + 1...count).filter { lost?.contains($0) != true } : []
            let events = kept.prefix(limit).map { id in
                #"{"id":\#(id),"name":"delivered","event":"Delivered to Device","timeMs":\#(time),"#
                    + #""apnsId":"\#(self.id.text(recipient: Int64(id)))"}"#
            }
            return RawServer.response(#"{"events":[\#(events.joined(separator: ","))]}"#)
        }
    }
}

extension RecordingReceiptStore {
    /// The receipts of all transactions.
    fileprivate var entries: [ReceiptBatch.Entry] {
        self.transactions.withLock { $0.flatMap(\.self).flatMap(\.entries) }
    }
}
