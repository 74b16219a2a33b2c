import Mustache
package import PageResources

/// The templates of pages, which are parsed once at startup. All variables are escaped with ``HTMLEscaping``. A
/// template includes others as partials, and a page fills the blocks of `layout`. Tags of partials must be at the
/// beginning of a line, because Mustache would otherwise indent the content of text areas.
package struct PageTemplates: Sendable {
    package struct Source: Sendable {
        let name: String
        let text: [UInt8]

        package init(_ name: String, _ text: [UInt8]) { (self.name, self.text) = (name, text) }
    }

    private let library: MustacheLibrary

    /// Parses the templates.
    /// - Parameter sources: The templates of the modules that provide pages, in addition to the shared ones.
    /// - Throws: An error of the parser, which contains the line and the column of the mistake.
    package init(_ sources: [Source]) throws {
        MustacheContentTypes.register(MarkupContentType(), named: HTMLEscaping.contentType)
        var library = MustacheLibrary()
        for source in PageFiles.shared.templates + sources {
            let text = String(decoding: source.text, as: UTF8.self)
            try library.register(HTMLEscaping.directive + text, named: source.name)
        }
        self.library = library
    }

    /// Returns the rendered HTML of a page or a section, or `nil` if there is no template with the name.
    /// - Parameter format: The format of numbers and times.
    package func render(_ name: String, _ model: PageModel, format: PageFormat) -> String? {
        PageFormat.$current.withValue(format) {
            self.library.render(model, withTemplate: name)
        }
    }
}

/// The files of the pages that are embedded in the executable. They are embedded with the C compiler, because the Swift
/// compiler takes 19 s for the array literals that SwiftPM generates for embedded resources.
package struct PageFiles: Sendable {
    static let shared = PageFiles(page_resources_shared())

    private let files: [(name: String, content: [UInt8])]

    /// Reads the embedded files.
    /// - Parameter resources: The first element of an array of files. A null element ends the array.
    package init(_ resources: UnsafePointer<page_resource>) {
        var files: [(name: String, content: [UInt8])] = []
        var next = resources
        while let path = next.pointee.path, let text = next.pointee.text {
            let name = String(cString: path).split(separator: "/").last.map(String.init)
            files.append((name ?? "", Array(String(cString: text).utf8)))
            next += 1
        }
        self.files = files
    }

    /// Returns the contents of the file with a name, which are empty for an unknown name.
    subscript(name: String) -> [UInt8] { self.files.first { $0.name == name }?.content ?? [] }

    /// The templates among the files. The name of each is its file name without `.mustache`.
    package var templates: [PageTemplates.Source] {
        self.files.filter { $0.name.hasSuffix(".mustache") }.map { file in
            PageTemplates.Source(String(file.name.dropLast(".mustache".count)), file.content)
        }
    }

    /// The localized texts among the files. The language of each is the last component of its file name before `.json`.
    package var texts: [(language: String, text: [UInt8])] {
        self.files.compactMap { file -> (language: String, text: [UInt8])? in
            let parts = file.name.split(separator: ".")
            guard parts.last == "json", let language = parts.dropLast().last else { return nil }
            return (String(language), file.content)
        }
    }
}

/// Escapes strings for HTML, scalar by scalar, because browsers parse HTML in this way. The content type of the library
/// Mustache compares characters. In Swift, a `<` after certain scalars, such as U+0600, is part of a longer character
/// and would not be escaped.
package enum HTMLEscaping {
    static let contentType = "MARKUP"

    static let directive = "{{% CONTENT_TYPE: \(Self.contentType)}}"

    /// Returns the escaped string, for use in elements and quoted attributes.
    package static func escape(_ text: String) -> String {
        guard text.utf8.contains(where: Self.isSpecial) else { return text }
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.utf8.count + 32)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): escaped += Array("&amp;".utf8)
            case UInt8(ascii: "<"): escaped += Array("&lt;".utf8)
            case UInt8(ascii: ">"): escaped += Array("&gt;".utf8)
            case UInt8(ascii: "\""): escaped += Array("&quot;".utf8)
            case UInt8(ascii: "'"): escaped += Array("&#39;".utf8)
            // NUL is not allowed in HTML, and browsers treat it inconsistently.
            case 0: escaped += Array("\u{FFFD}".utf8)
            default: escaped.append(byte)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"), 0: true
        default: false
        }
    }
}

/// The Mustache content type of all pages, which escapes variables.
private struct MarkupContentType: MustacheContentType {
    func escapeText(_ text: String) -> String { HTMLEscaping.escape(text) }
}
