import PushSupport

/// The result of a test of a credential as people read it.
enum CredentialTestText {
    private static let columns: TextTable = [
        "reason", .init("round trip ms", "roundTripMs"), .time("expires", "expiresAtMs"), "message", "advice",
    ]

    /// Returns a line for each step of the test, then what it found.
    static func of(_ test: JSONValue) -> String {
        let address = "\(test["host"].plainText):\(test["port"].plainText)".printable
        let steps = [
            ("connection to \(address)", "reached"), ("TLS", "trusted"), ("credential", "credentialAccepted"),
            ("topic of the app", "topicAllowed"),
        ]
        let lines = steps.map { name, member in
            let result: String
            switch test[member] {
            case .bool(true): result = "ok"
            case .bool(false): result = "failed"
            default: result = "not tested"
            }
            return "\(name): \(result)"
        }
        return (lines + [Self.columns.details(of: test)]).joined(separator: "\n")
    }
}
