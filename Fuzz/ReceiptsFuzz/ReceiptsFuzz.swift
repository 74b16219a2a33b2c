import Foundation
import Fuzzing
import ProviderModel
import PushHTTP
import PushSupport

@testable import ProviderAPI

/// Fuzzes bodies of requests with receipts.
@main
enum ReceiptsFuzz {
    static func main() {
        Fuzzer.run { input in
            guard let first = Self.request(Data(input)) else { return }
            Self.check(first)
            // The same, said as MartletKit says it, is the same.
            guard let again = Self.request(Self.body(first)) else { preconditionFailure("its own form is refused") }
            let (left, right) = (Self.receipts(first), Self.receipts(again))
            precondition(left.map(\.subject) == right.map(\.subject), "\(right)")
            precondition(left.map(\.receipt.id) == right.map(\.receipt.id), "\(right)")
            precondition(left.map(\.receipt.action) == right.map(\.receipt.action), "\(right)")
            precondition(again.privacy == first.privacy, "\(again.privacy)")
        }
    }

    private static func request(_ body: Data) -> ReceiptRequest? {
        guard body.count <= ReceiptRequest.maximumBody else { return nil }
        return try? ReceiptRequest(JSONFields(parsing: body, known: ["privacy", "receipts"]))
    }

    /// Checks that accepted receipts keep all limits, and refused ones can be named in a response.
    private static func check(_ request: ReceiptRequest) {
        precondition(request.privacy != .none, "receipts without privacy")
        precondition(request.entries.count <= ReceiptRequest.maximumCount, "\(request.entries.count) receipts")
        var results = ReceiptSubmissionResponse()
        for entry in request.entries {
            precondition((1...64).contains(entry.id.utf8.count), "an id of \(entry.id.utf8.count) bytes")
            switch entry.entry {
            case .failure(let error): results.add(error, id: entry.id)
            case .success(let entry):
                let receipt = entry.receipt
                let length = receipt.action?.utf8.count ?? 0
                precondition(length <= IncomingReceipt.maximumAction, "an action of \(length) bytes")
                precondition(receipt.action != "", "an empty action")
                precondition((receipt.event == .action) ? receipt.action != nil : true, "no action")
                let mayHaveAction = receipt.event == .action || receipt.event == .converted
                precondition(mayHaveAction || receipt.action == nil, "\(receipt.event) has an action")
            }
        }
        guard let response = try? results.json.text else { preconditionFailure("no response") }
        precondition(response.count < 256 * 1024, "a response of \(response.count) bytes")
    }

    private static func receipts(_ request: ReceiptRequest) -> [ReceiptBatch.Entry] {
        request.entries.compactMap { try? $0.entry.get() }
    }

    /// Returns a body with the accepted receipts.
    private static func body(_ request: ReceiptRequest) -> Data {
        let receipts = Self.receipts(request).map { entry -> JSONValue in
            guard case .notification(let notification) = entry.subject else {
                preconditionFailure("an app reports \(entry.subject)")
            }
            var members: [String: JSONValue] = [
                "id": .string(entry.receipt.id.uuidString), "notification": .string(notification.uuidString),
                "event": .string(entry.receipt.event.word), "at": .integer(1_800_000_000),
            ]
            members["action"] = entry.receipt.action.map { .string($0) }
            return .object(members)
        }
        let body: JSONValue = .object(["privacy": .string(request.privacy.word), "receipts": .array(receipts)])
        guard let text = try? body.text else { preconditionFailure("no text") }
        return text
    }
}
