import PushSupport

/// The result of a test of a credential as people read it.
enum CredentialTestText {
    /// Without the reason that shows that the credential works: the test's token does not exist.
    private static let columnsOfSuccess: TextTable = [
        .init("round trip ms", "roundTripMs"), .time("expires", "expiresAtMs"),
    ]
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
        let columns = test["works"] == true ? Self.columnsOfSuccess : Self.columns
        return (lines + [columns.details(of: test)]).joined(separator: "\n")
    }
}
