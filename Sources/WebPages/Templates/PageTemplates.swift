import Mustache
import PushSupport

/// The templates of pages, parsed once at start.
///
/// All variables are escaped with ``HTMLEscaping``. A template that needs another one names it as a partial; a page fills
/// the blocks of `layout`. Tags of partials stand at the beginning of their line: Mustache would indent what is typed
/// into text areas.
package struct PageTemplates: Sendable {
    /// A template of one of the modules.
    package struct Source: Sendable {
        let name: String
        let text: [UInt8]

        package init(_ name: String, _ text: [UInt8]) {
            (self.name, self.text) = (name, text)
        }
    }

    private let library: MustacheLibrary

    /// - Parameter sources: The templates of the modules that make pages, besides the shared ones.
    /// - Throws: An error of the parser, which names line and column.
    package init(_ sources: [Source]) throws {
        MustacheContentTypes.register(MarkupContentType(), named: HTMLEscaping.contentType)
        var library = MustacheLibrary()
        for source in PageFiles.shared.templates + sources {
            let text = String(decoding: source.text, as: UTF8.self)
            try library.register(HTMLEscaping.directive + text, named: source.name)
        }
        self.library = library
    }

    /// Returns the text of a page or a part of it; `nil` if there is no such template.
    ///
    /// - Parameters:
    ///   - format: The language and the clock with which numbers and times are written.
    package func render(_ name: String, _ model: PageModel, format: PageFormat) -> String? {
        PageFormat.$current.withValue(format) {
            self.library.render(model, withTemplate: name)
        }
    }
}
