import Foundation
import Mustache

/// A number in a page, written as the reader's language does: `{{count}}` is 1,204, `{{plain(count)}}` 1204.
package struct PageNumber: MustacheCustomRenderable, MustacheTransformable, Sendable {
    package let value: Double

    package init(value: Double) {
        self.value = value
    }

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
