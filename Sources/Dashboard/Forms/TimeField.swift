import PushSupport

/// Converts the values of fields of the type `datetime-local`, which contain times in UTC without a time zone.
enum TimeField {
    /// Returns the value of a field as a time in the format of the API, or `nil` for an empty field. A value that is
    /// not a time is returned unchanged, so that the API rejects it.
    static func json(_ text: String?) -> JSONValue? {
        guard let text, !text.isEmpty else { return nil }
        guard self.isTime(text) else { return .string(text) }
        return .string(text.utf8.count == 16 ? "\(text):00Z" : "\(text)Z")
    }

    /// Returns the value with which a page shows a field again, or an empty string if a browser would not accept the
    /// value as a time.
    static func value(_ text: String?) -> String {
        guard let text, self.isTime(text) else { return "" }
        return text
    }

    private static func isTime(_ text: String) -> Bool {
        let form = #/[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?/#
        return text.utf8.count <= 19 && text.wholeMatch(of: form) != nil
    }
}
