import ProviderModel
import PushHTTP
import PushSupport

/// The response body with the results for submitted receipts.
struct ReceiptSubmissionResponse: ResponseObject {
    /// A refused receipt. If it is submitted again, it is refused again.
    struct Refused: ResponseObject {
        let id: String
        let code: ReceiptRefusal
        let message: String

        static let schemaName: String? = "RefusedReceipt"
        static let members: [ResponseMember<Self>] = [
            .required("id", \.id),
            .required("code", \.code.rawValue, as: .choice(of: ReceiptRefusal.self)),
            .required("message", \.message),
        ]
    }

    private(set) var accepted = 0
    private(set) var repeated = 0
    private(set) var refused: [Refused] = []

    static let schemaName: String? = "ReceiptResults"
    static let members: [ResponseMember<Self>] = [
        .required("accepted", \.accepted),
        .required("repeated", \.repeated, "Those that were accepted before."),
        .required("refused", \.refused, "Those that are not kept; another try would not help."),
    ]

    mutating func add(_ result: ReceiptResult, id: String) {
        switch result {
        case .accepted: self.accepted += 1
        case .repeated: self.repeated += 1
        case .refused(let code): self.refused.append(Refused(id: id, code: code, message: code.explanation))
        }
    }

    mutating func add(_ error: RequestError, id: String) {
        let message = error.path.map { "\($0): \(error.message)" } ?? error.message
        self.refused.append(Refused(id: id, code: .invalidValue, message: message))
    }
}

extension ReceiptRefusal {
    fileprivate var explanation: String {
        switch self {
        case .unknownNotification: "the app has no such notification, or this installation has not had it"
        case .tooLate: "the notification ended more than 30 days ago"
        case .tooMany: "this installation has sent \(ReceiptLimits.perEvent) receipts of this event"
        case .receiptsOff: "the notification was sent without receipts"
        case .invalidValue: "a member cannot be read"
        }
    }
}
