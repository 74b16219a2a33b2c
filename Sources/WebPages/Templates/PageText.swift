import Foundation
import Mustache

/// A text in a page. An empty one is an empty section.
///
/// Its transforms read it as a time in RFC 3339: `{{ago(createdAt)}}`, `{{exact(createdAt)}}`, `{{local(createdAt)}}`.
package struct PageText: MustacheCustomRenderable, MustacheTransformable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

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
