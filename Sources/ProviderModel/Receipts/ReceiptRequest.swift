import Foundation
package import PushSupport

/// The body of a request with receipts.
///
/// A receipt with an invalid value is refused in the response, and the others are processed. A body of another shape is
/// an error of the whole request.
package struct ReceiptRequest: Sendable {
    /// The maximum number of receipts in a request. A request with more is rejected.
    package static let maximumCount = 100
    /// The maximum length of a body, in bytes. A request with a longer one is rejected.
    package static let maximumBody = 64 * 1024

    /// One receipt of the request, or the error for which it is refused while the others are processed.
    package struct Entry: Sendable {
        /// The id of the receipt, as the request writes it.
        package var id: String
        package var entry: Result<ReceiptBatch.Entry, RequestError>
    }

    package let privacy: ReceiptLevel
    package let entries: [Entry]

    private static let privacy = Member.receiptPrivacy("privacy", of: [.device, .counts])
        .described("counts keeps no row that names the device.")
    private static let receipts = Member.json(
        "receipts",
        as: .array(of: Self.receipt.schema, count: 0...ReceiptRequest.maximumCount)
    )
    private static let id = Member.text("id", 1...64).described("A UUID, made once for this receipt.")
    private static let notification = Member.text("notification", 1...64)
        .described("The id in the payload's member martlet.")
    private static let event = Member.text("event", 1...32)
        .described(ReceiptEvent.allCases.map(\.word).joined(separator: ", ") + ".")
    private static let at = Member.json("at", as: .any(of: [.string(length: 1...40), .integer()]))
        .described("RFC 3339, or seconds since 1970.")
    private static let action = Member.text("action", 1...256).described("Of action, and of converted if it has one.")
    package static let receipt = RequestObject(
        required: [Self.id, Self.notification, Self.event, Self.at],
        optional: [Self.action]
    )

    package static let object = RequestObject(required: [Self.privacy, Self.receipts]) {
        let receipt = JSONValue.texts([
            "id": "0B3C1D1E-6A52-4C8E-9E4B-1B1F0E4B7A01", "notification": "6F1C0A2B-9D3E-4ABC-8F00-2D6C1F0E9A11",
            "event": "opened", "at": "2026-11-25T09:30:00Z",
        ])
        return $0.example(.object(["privacy": .string("device"), "receipts": .array([receipt])]))
            .named("ReceiptRequest")
    }

    package init(_ fields: JSONFields) throws(RequestError) {
        guard let privacy = try fields.value(Self.privacy), privacy != .none else {
            throw fields.error("privacy", "invalid_value", "use device or counts; with none send nothing")
        }
        self.privacy = privacy
        guard case .array(let values) = try fields.required(Self.receipts) else {
            throw fields.wrongType("receipts", "an array")
        }
        guard values.count <= Self.maximumCount else {
            throw fields.error("receipts", "too_many", "at most \(Self.maximumCount) at once, not \(values.count)")
        }
        var entries: [Entry] = []
        entries.reserveCapacity(values.count)
        for (index, value) in values.enumerated() {
            guard case .object(let members) = value else {
                throw fields.wrongType("receipts[\(index)]", "an object")
            }
            entries.append(try Self.entry(members, at: "receipts[\(index)]"))
        }
        self.entries = entries
    }

    private static func entry(_ members: [String: JSONValue], at path: String) throws(RequestError) -> Entry {
        let fields = try JSONFields(members: members, path: path, known: Self.receipt.known)
        let id = try fields.required(Self.id)
        let notification = try fields.required(Self.notification)
        let event = try fields.required(Self.event)
        let action = try fields.value(Self.action)
        switch try fields.required(Self.at) {
        case .string, .integer: break
        default: throw fields.wrongType("at", "RFC 3339 text or seconds since 1970")
        }
        return Entry(
            id: id,
            entry: Result { () throws(RequestError) in
                guard let id = UUID(uuidString: id) else { throw fields.error("id", "invalid_value", "use a UUID") }
                guard let notification = UUID(uuidString: notification) else {
                    throw fields.error("notification", "invalid_value", "it is not a UUID")
                }
                guard let event = ReceiptEvent(word: event) else {
                    let known = ReceiptEvent.allCases.map(\.word).joined(separator: ", ")
                    throw fields.error("event", "invalid_value", "use one of \(known)")
                }
                try Self.check(action, of: event, fields)
                guard let at = try fields.timestamp("at") else {
                    throw fields.error("at", "missing_field", "this member is required")
                }
                return ReceiptBatch.Entry(
                    IncomingReceipt(id: id, event: event, action: action, at: at),
                    of: .notification(notification)
                )
            }
        )
    }

    private static func check(_ action: String?, of event: ReceiptEvent, _ fields: JSONFields) throws(RequestError) {
        switch (event, action) {
        case (.action, nil): throw fields.error("action", "missing_field", "name the action")
        case (.action, let name?), (.converted, let name?):
            guard name.utf8.count <= IncomingReceipt.maximumAction else {
                throw fields.error("action", "too_long", "at most \(IncomingReceipt.maximumAction) bytes")
            }
        case (_, nil): break
        case (_, _?): throw fields.error("action", "conflicting_field", "only action and converted have one")
        }
    }
}
