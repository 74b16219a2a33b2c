import Foundation
import Fuzzing
import ProviderModel
import PushTypes

@testable import PushProvider

/// Fuzzes what apps and publishers' servers send to decide about entitlement. The first byte of an input selects one: a signed
/// transaction, an XML document, or an answer in XML or JSON.
@main
enum EntitlementFuzz {
    static func main() {
        Fuzzer.run { input in
            let rest = Array(input.dropFirst())
            switch input.first.map({ $0 & 3 }) {
            case 0: Self.transaction(rest)
            case 1: Self.document(rest)
            case 2: Self.answer(rest, .xml)
            case nil: break
            default: Self.answer(rest, .json)
            }
        }
    }

    /// Checks that an accepted text is the only one of its header, payload and signature.
    private static func transaction(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let signed = try? CompactJWS(text) else { return }
        precondition(signed.certificates.count == CompactJWS.certificateCount && signed.signature.count == 64)
        let again = "\(String(decoding: signed.signedBytes, as: UTF8.self)).\(Base64URL.encode(signed.signature))"
        precondition(again == text, "not the same after decoding: \(text)")
        guard let app = Topic("com.example.app") else { return }
        _ = try? StoreTransaction(signed.payload, app: app)
    }

    /// Checks that elements are closed in order, and that an accepted document is the same after it is written again.
    private static func document(_ bytes: [UInt8]) {
        guard let events = Self.events(bytes) else { return }
        var open: [String] = []
        for event in events {
            switch event {
            case .start(let name, let attributes):
                open.append(name)
                precondition(open.count <= XMLReader.maximumDepth && attributes.count <= XMLReader.maximumAttributes)
            case .end(let name): precondition(open.popLast() == name, "closed in another order: \(events)")
            case .text: precondition(!open.isEmpty, "text outside: \(events)")
            }
        }
        precondition(open.isEmpty && !events.isEmpty, "not whole: \(events)")
        let written = Self.text(events)
        guard written.count <= XMLReader.maximumLength else { return }
        precondition(Self.events(written) == events, "not the same after writing: \(events)")
    }

    private static func events(_ bytes: [UInt8]) -> [XMLReader.Event]? {
        guard var reader = try? XMLReader(bytes) else { return nil }
        var events: [XMLReader.Event] = []
        do {
            while let event = try reader.next() { events.append(event) }
        } catch {
            return nil
        }
        return events
    }

    private static func text(_ events: [XMLReader.Event]) -> [UInt8] {
        let parts = events.map { event in
            switch event {
            case .start(let name, let attributes):
                "<\(name)\(attributes.map { " \($0)=\"\(Self.escaped($1))\"" }.joined())>"
            case .end(let name): "</\(name)>"
            case .text(let text): Self.escaped(text)
            }
        }
        return Array(parts.joined().utf8)
    }

    private static func escaped(_ text: String) -> String {
        let entities: [UInt8: String] = [0x26: "&amp;", 0x3c: "&lt;", 0x3e: "&gt;", 0x22: "&quot;", 0x27: "&apos;"]
        let bytes = text.utf8.flatMap { byte in entities[byte].map { Array($0.utf8) } ?? [byte] }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Checks that the product ids of an answer keep their limits.
    private static func answer(_ bytes: [UInt8], _ form: EntitlementServerRecord.Form) {
        guard case .entitled(let products)? = try? PublisherResponse(status: 200, body: bytes, form: form) else {
            return
        }
        for product in products {
            let range = 1...IssueRecord.maximumProductID
            precondition(range.contains(product.utf8.count), "a product id of \(product.utf8.count) bytes")
        }
    }
}
