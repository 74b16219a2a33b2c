import Foundation
import PushSender
import PushSupport
import PushTypes

/// An outcome in words and as JSON.
struct OutcomeText {
    /// accepted, rejected, not sent, unknown or invalid.
    let kind: String
    /// The members of the JSON line besides line, token and outcome; those without a value are left out.
    let fields: [String: JSONValue?]

    /// Describes a line that is not a device token.
    static let invalid = OutcomeText(kind: "invalid", fields: ["detail": "this is not a device token"])

    /// Returns the outcome as one line of JSON.
    func json(line: Int, token: String) throws -> String {
        try JSONValue.members(
            self.fields.merging(["line": line.json, "token": token.json, "outcome": self.kind.json]) { $1 }
        ).line
    }

    /// The outcome for people.
    var sentence: String {
        let details = ["status", "reason", "detail", "advice"].compactMap { name in
            (self.fields[name] ?? nil)?.plainText
        }
        // The push service's words must not control the terminal.
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

extension OutcomeText {
    /// Describes the outcome of a push, with the advice that its reason asks for.
    init(_ outcome: Outcome) {
        switch outcome {
        case .accepted(let accepted):
            self.init(kind: "accepted", fields: ["id": accepted.id.json, "uniqueId": accepted.uniqueID?.json])
        case .rejected(let rejection):
            self.init(
                kind: "rejected",
                fields: [
                    "status": rejection.status.json, "reason": rejection.reasonText.json,
                    "timestamp": rejection.timestamp?.milliseconds.json, "advice": Self.text(of: rejection.advice).json,
                ]
            )
        case .notSent(let failure): self.init(kind: "not sent", fields: ["detail": failure.description.json])
        case .unknown(let failure): self.init(kind: "unknown", fields: ["detail": failure.description.json])
        }
    }
}
