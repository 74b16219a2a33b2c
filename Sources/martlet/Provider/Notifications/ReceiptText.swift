import PushSupport

/// The numbers of a notification's receipts as people read them.
enum ReceiptText {
    /// Returns the numbers of installations in one text, such as `12 shown, 3 opened`; `nil` if there are none.
    static func of(_ notification: JSONValue) -> String? {
        let counts = notification["receiptCounts"].elements
        guard !counts.isEmpty else { return nil }
        return counts.map { "\($0["unique"].plainText) \($0["event"].plainText)" }.joined(separator: ", ").printable
    }

    /// Returns a line for each event, with its actions.
    static func lines(_ notification: JSONValue) -> [String] {
        notification["receiptCounts"].elements.map { count in
            var text = "\(count["event"].plainText): \(Self.numbers(count))"
            let actions = count["actions"].elements.map { "\($0["action"].plainText) \(Self.numbers($0))" }
            if !actions.isEmpty { text += " (\(actions.joined(separator: ", ")))" }
            return text.printable
        }
    }

    private static func numbers(_ count: JSONValue) -> String {
        "\(count["unique"].plainText) unique, \(count["total"].plainText) in total"
    }
}
