import PushSupport

/// The value of a field of the type `datetime-local`: a time in UTC without its zone.
enum TimeField {
    /// Returns the time for the API; an empty one is left out, and what is no time is left to the API to refuse.
    static func json(_ text: String?) -> JSONValue? {
        guard let text, !text.isEmpty else { return nil }
        guard self.isTime(text) else { return .string(text) }
        return .string(text.utf8.count == 16 ? "\(text):00Z" : "\(text)Z")
    }

    /// Returns the value with which a page shows the field again; empty for what a browser would not take.
    static func value(_ text: String?) -> String {
        guard let text, self.isTime(text) else { return "" }
        return text
    }

    private static func isTime(_ text: String) -> Bool {
        let form = #/[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?/#
        return text.utf8.count <= 19 && text.wholeMatch(of: form) != nil
    }
}
