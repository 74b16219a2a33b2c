import PushProvider
import PushStore
import PushSupport

extension NamePatterns {
    /// Reads patterns; `nil` if the member is absent, none for `null`.
    static func read(_ name: String, in fields: JSONFields) throws(RequestError) -> NamePatterns? {
        if fields.nulls.contains(name) { return NamePatterns() }
        let texts = try fields.strings(name, count: Self.maximum, maximum: DeviceRequest.maximumText)
        guard let texts else { return nil }
        for (index, text) in texts.enumerated() where !Self.isPattern(text) {
            throw fields.error("\(name)[\(index)]", "invalid_value", "a * may only be at the end, such as news.*")
        }
        return NamePatterns(texts)
    }
}
