import PushProvider
import PushStore
import PushSupport

extension NamePatterns {
    /// Makes a member with patterns, of which `null` gives none.
    static func member(_ name: String) -> RequestMember<NamePatterns> {
        let texts = Member.texts(name, 0...Self.maximum, maximum: DeviceRequest.maximumText)
        let schema = texts.schema.orNull
            .described("Names that installations may write; one that ends in * stands for all that begin so.")
        return RequestMember<NamePatterns>(name, schema) { (fields, name) throws(RequestError) in
            if fields.nulls.contains(name) { return NamePatterns() }
            guard let given = try fields.value(texts) else { return nil }
            for (index, text) in given.enumerated() where !Self.isPattern(text) {
                throw fields.error("\(name)[\(index)]", "invalid_value", "a * may only be at the end, such as news.*")
            }
            return NamePatterns(given)
        }
    }
}
