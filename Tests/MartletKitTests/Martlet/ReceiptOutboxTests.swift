import Foundation
import Testing

@testable import MartletKit

@Suite("The outbox of receipts") struct ReceiptOutboxTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)
    private static let day: TimeInterval = 24 * 3600

    private static func receipt(
        _ event: ReportedEvent = .delivered,
        action: String? = nil,
        at: Date = now,
        privacy: ReceiptPrivacy = .device
    ) -> Receipt {
        Receipt(id: UUID(), notification: UUID(), event: event, action: action, at: at, privacy: privacy)
    }

    private static func done(_ batch: ReceiptOutbox.Batch) -> ProviderResult {
        .done(["accepted": .integer(Int64(batch.receipts.count)), "repeated": 0, "refused": .array([])])
    }

    @Test("Receipts are sent oldest first, 100 at most, and each once")
    func batches() {
        var outbox = ReceiptOutbox()
        let receipts = (0..<250).map { Self.receipt(at: Self.now + Double($0)) }
        for receipt in receipts.shuffled() { outbox.load(StoredReceipt(receipt)) }
        var (sent, sizes): ([Receipt], [Int]) = ([], [])
        while case .send(let batch) = outbox.next(privacy: .device, now: Self.now), sizes.count < 10 {
            sizes.append(batch.receipts.count)
            sent += batch.receipts
            _ = outbox.completed(batch, Self.done(batch), now: Self.now, random: 1)
        }
        #expect(sizes == [100, 100, 50] && sent == receipts)
        for receipt in receipts {
            #expect(!outbox.isNew(receipt.name))
            outbox.load(StoredReceipt(receipt))
        }
        #expect(outbox.next(privacy: .device, now: Self.now) == .nothing)
    }

    @Test("A request has one level of privacy: the stricter of the receipt's and the user's")
    func privacy() {
        var outbox = ReceiptOutbox()
        outbox.load(StoredReceipt(Self.receipt(at: Self.now, privacy: .device)))
        outbox.load(StoredReceipt(Self.receipt(at: Self.now + 1, privacy: .counts)))
        outbox.load(StoredReceipt(Self.receipt(at: Self.now + 2, privacy: .device)))
        guard case .send(let batch) = outbox.next(privacy: .device, now: Self.now) else { return }
        #expect(batch.privacy == .device && batch.receipts.count == 2)
        guard case .send(let strict) = outbox.next(privacy: .counts, now: Self.now) else { return }
        #expect(strict.privacy == .counts && strict.receipts.count == 3)
        #expect(outbox.next(privacy: .none, now: Self.now) == .nothing)
        let changes = outbox.prune(privacy: .none, now: Self.now)
        #expect(changes.removed.count == 3 && outbox.waiting.isEmpty)
        #expect(changes.events == [.receiptsDropped(count: 3, reason: "the user allows none")])
    }

    @Test("More than 1,000 lose what says least, and of that the oldest")
    func bound() {
        var outbox = ReceiptOutbox()
        let old = Self.receipt(.converted, at: Self.now - Self.day)
        outbox.load(StoredReceipt(old))
        let oldest = Self.receipt(.delivered, at: Self.now - 10)
        outbox.load(StoredReceipt(oldest))
        for number in 0..<600 { outbox.load(StoredReceipt(Self.receipt(.delivered, at: Self.now + Double(number)))) }
        for number in 0..<399 { outbox.load(StoredReceipt(Self.receipt(.opened, at: Self.now + Double(number)))) }
        let changes = outbox.prune(privacy: .device, now: Self.now)
        #expect(changes.removed == [oldest.name] && outbox.waiting.count == 1000)
        #expect(outbox.waiting[old.name] != nil)
        #expect(changes.events == [.receiptsDropped(count: 1, reason: "more than 1000 wait")])
    }

    @Test("After 30 days a receipt is dropped, and one that was sent is forgotten")
    func lifetime() {
        var outbox = ReceiptOutbox()
        let (waiting, sent) = (Self.receipt(), Self.receipt())
        outbox.load(StoredReceipt(waiting))
        outbox.load(StoredReceipt(sent, isSent: true))
        #expect(outbox.prune(privacy: .device, now: Self.now + 30 * Self.day) == ReceiptOutbox.Changes())
        let changes = outbox.prune(privacy: .device, now: Self.now + 30 * Self.day + 1)
        #expect(Set(changes.removed) == [waiting.name, sent.name])
        #expect(outbox.isNew(sent.name))
    }

    @Test("At most 1,000 sent receipts are remembered")
    func remembered() {
        var outbox = ReceiptOutbox()
        for number in 0..<1200 {
            outbox.load(StoredReceipt(Self.receipt(at: Self.now + Double(number)), isSent: true))
        }
        #expect(outbox.prune(privacy: .device, now: Self.now).removed.count == 200)
    }

    @Test("One receipt that spoils a request is found and dropped, and the others are sent")
    func spoiler() {
        var outbox = ReceiptOutbox()
        let spoiler = Self.receipt(.opened, at: Self.now + 37)
        for number in 0..<150 { outbox.load(StoredReceipt(Self.receipt(at: Self.now + Double(number)))) }
        outbox.load(StoredReceipt(spoiler))
        var (sent, dropped, requests) = (0, [String](), 0)
        while case .send(let batch) = outbox.next(privacy: .device, now: Self.now), requests < 100 {
            requests += 1
            let refusal = ProviderRefusal(code: "invalid_value", message: "no", field: "receipts[3].event")
            let isSpoilt = batch.receipts.contains(spoiler)
            let changes = outbox.completed(
                batch,
                isSpoilt ? .refused(refusal) : Self.done(batch),
                now: Self.now,
                random: 1
            )
            sent += changes.sent.count
            dropped += changes.removed
        }
        #expect(sent == 150 && dropped == [spoiler.name] && requests < 30)
    }

    @Test("Receipts that are removed during their request do not come back")
    func removedMeanwhile() {
        var outbox = ReceiptOutbox()
        for _ in 0..<3 { outbox.load(StoredReceipt(Self.receipt())) }
        guard case .send(let batch) = outbox.next(privacy: .device, now: Self.now) else { return }
        _ = outbox.removeAll()
        let changes = outbox.completed(batch, Self.done(batch), now: Self.now, random: 1)
        #expect(changes.sent.isEmpty && batch.receipts.allSatisfy { outbox.isNew($0.name) })
    }

    @Test("A request that is too large is sent in parts")
    func tooLarge() {
        var outbox = ReceiptOutbox()
        for _ in 0..<40 { outbox.load(StoredReceipt(Self.receipt())) }
        let refusal = ProviderResult.refused(.init(code: ProviderRefusal.tooLarge, message: "no"))
        var sent = 0
        while case .send(let batch) = outbox.next(privacy: .device, now: Self.now) {
            let response = batch.receipts.count > 10 ? refusal : Self.done(batch)
            sent += outbox.completed(batch, response, now: Self.now, random: 1).sent.count
        }
        #expect(sent == 40)
    }

    @Test(
        "A response that is none of a provider loses nothing",
        arguments: [ProviderResult.done([:]), .later(after: .seconds(9), reason: "503")]
    )
    func strangeResponse(response: ProviderResult) {
        var outbox = ReceiptOutbox()
        let receipt = Self.receipt()
        outbox.load(StoredReceipt(receipt))
        guard case .send(let batch) = outbox.next(privacy: .device, now: Self.now) else { return }
        _ = outbox.completed(batch, response, now: Self.now, random: 1)
        guard case .wait(let until) = outbox.next(privacy: .device, now: Self.now) else {
            Issue.record("it does not wait")
            return
        }
        guard case .send(let again) = outbox.next(privacy: .device, now: until) else { return }
        #expect(again == batch)
    }

    @Test("A provider without receipts is asked again after a day")
    func unknownOperation() {
        var outbox = ReceiptOutbox()
        outbox.load(StoredReceipt(Self.receipt()))
        guard case .send(let batch) = outbox.next(privacy: .device, now: Self.now) else { return }
        _ = outbox.completed(batch, .refused(.init(code: "not_found", message: "no")), now: Self.now, random: 1)
        outbox.launched()
        #expect(outbox.next(privacy: .device, now: Self.now) == .wait(until: Self.now + Self.day))
    }

    @Test("A request is never longer than 64 kB, with the longest actions")
    func size() {
        var outbox = ReceiptOutbox()
        for _ in 0..<100 {
            outbox.load(StoredReceipt(Self.receipt(.action, action: String(repeating: "\u{1}", count: 64))))
        }
        guard case .send(let batch) = outbox.next(privacy: .device, now: Self.now) else { return }
        #expect(batch.json.json.count <= 64_000)
    }

    @Test("The name of a receipt holds nothing of a payload, and is the same for the same event")
    func names() throws {
        let id = UUID()
        let action = "../../etc/passwd\u{0}é"
        func receipt(_ event: ReportedEvent, _ action: String? = nil) -> Receipt {
            Receipt(id: UUID(), notification: id, event: event, action: action, at: Self.now, privacy: .device)
        }
        #expect(receipt(.opened).name == receipt(.opened).name)
        #expect(receipt(.action, "A").name != receipt(.action, "B").name)
        #expect(receipt(.converted, "A").name != receipt(.converted, "A").name)
        let longest = receipt(.action, String(repeating: "x", count: 64)).name
        let allowed = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._")
        for name in [longest, receipt(.action, action).name] {
            #expect(name.utf8.count <= 200 && name.unicodeScalars.allSatisfy { allowed.contains($0) })
        }
    }

    @Test("What is stored under a name but is no receipt of that name is none")
    func garbage() {
        let stored = StoredReceipt(Self.receipt())
        #expect(StoredReceipt(stored.data, name: stored.receipt.name) == stored)
        #expect(StoredReceipt(stored.data, name: "receipt-x") == nil)
        for data in [Data(), Data("{}".utf8), Data(repeating: 0xFF, count: 100), Data(count: 5000)] {
            #expect(StoredReceipt(data, name: "receipt-x") == nil)
        }
    }
}
