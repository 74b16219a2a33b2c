import Mustache
package import PushSupport

/// The variables of a template by their names. ``PageValue`` creates them from JSON.
package typealias PageModel = [String: Any]

/// Converts JSON into the variables of templates. Pages show API responses in this form, so that templates use the
/// names of API members.
package enum PageValue {
    /// Returns the template value for a JSON value, or `nil` for `null`, which makes a template section empty.
    package static func of(_ json: JSONValue?) -> Any? {
        switch json {
        case nil, .null: nil
        case .bool(let flag): flag
        case .integer(let number): PageNumber(value: Double(number))
        case .number(let number): PageNumber(value: number)
        case .string(let text): PageText(text)
        case .array(let values): values.compactMap(Self.of)
        case .object(let members): Self.model(members)
        }
    }

    package static func model(_ members: [String: JSONValue]) -> PageModel { members.compactMapValues(Self.of) }
}

/// A number on a page, in the format of the page's language: `{{count}}` is 1,204, and `{{plain(count)}}` is 1204.
package struct PageNumber: MustacheCustomRenderable, MustacheTransformable, Sendable {
    package let value: Double

    package init(value: Double) { self.value = value }

    package var renderText: String { PageFormat.current.number(self.value) }
    package var isNull: Bool { false }

    package func transform(_ name: String) -> Any? {
        switch name {
        case "plain": PageFormat.plain(self.value)
        case "bytes": PageFormat.current.bytes(self.value)
        case "duration": PageFormat.current.duration(seconds: self.value)
        case "many": self.value != 0
        default: nil
        }
    }
}

/// A string on a page. An empty string makes a template section empty. Its transforms parse the string as a time in RFC
/// 3339: `{{ago(createdAt)}}`, `{{exact(createdAt)}}`, `{{local(createdAt)}}`.
package struct PageText: MustacheCustomRenderable, MustacheTransformable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package var renderText: String { self.text }
    package var isNull: Bool { self.text.isEmpty }

    package func transform(_ name: String) -> Any? {
        switch name {
        case "ago": PageFormat.current.ago(self.text)
        case "exact": self.text
        case "local": PageFormat.current.local(self.text)
        case "short": self.text.count > 14 ? "\(self.text.prefix(6))…\(self.text.suffix(4))" : self.text
        default: nil
        }
    }
}
