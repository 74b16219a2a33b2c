import Foundation
import PushSender
import PushTypes

/// An outcome in words and as JSON.
struct OutcomeText {
    /// accepted, rejected, not sent, unknown or invalid.
    let kind: String
    /// Members of the JSON line besides line, token and outcome.
    let fields: [String: Any]

    init(kind: String, fields: [String: Any]) {
        self.kind = kind
        self.fields = fields
    }

    init(_ outcome: Outcome) {
        var fields: [String: Any] = [:]
        switch outcome {
        case .accepted(let accepted):
            self.kind = "accepted"
            fields["id"] = accepted.id
            fields["uniqueId"] = accepted.uniqueID
        case .rejected(let rejection):
            self.kind = "rejected"
            fields["status"] = rejection.status
            fields["reason"] = rejection.reasonText
            fields["timestamp"] = rejection.timestamp?.milliseconds
            fields["advice"] = Self.text(of: rejection.advice)
        case .notSent(let failure):
            self.kind = "not sent"
            fields["detail"] = failure.description
        case .unknown(let failure):
            self.kind = "unknown"
            fields["detail"] = failure.description
        }
        self.fields = fields
    }

    func json(line: Int, token: String) -> String {
        let members = self.fields.merging(["line": line, "token": token, "outcome": self.kind]) { $1 }
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
        let data = (try? JSONSerialization.data(withJSONObject: members, options: options)) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }

    /// For people.
    var sentence: String {
        let details = ["status", "reason", "detail", "advice"].compactMap { self.fields[$0].map { "\($0)" } }
        // The service's words must not steer the terminal.
        return "\(self.kind): \(details.joined(separator: ", "))".filter { (" "..."~").contains($0) }
    }

    private static func text(of advice: Rejection.Advice) -> String {
        switch advice {
        case .retry(.none): "try again later"
        case .retry(.some(let delay)): "try again after \(delay.components.seconds) s"
        case .dropToken: "drop the token"
        case .suspectToken: "check environment and topic, then drop the token"
        case .fixConfiguration: "fix the configuration"
        case .fixNotification: "fix the notification"
        }
    }
}
