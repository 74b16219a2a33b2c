package import PageResources

/// Files of the pages, which are a part of the program.
///
/// The C compiler embeds them: it takes the array literals that SwiftPM makes of embedded resources 19 s to compile in Swift.
package struct PageFiles: Sendable {
    /// The files that all pages share.
    static let shared = PageFiles(page_resources_shared())

    private let files: [(name: String, content: [UInt8])]

    /// - Parameter resources: The first file of a list; the last one has a null behind it.
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

    /// Returns the content of a file; nothing for another name.
    subscript(name: String) -> [UInt8] { self.files.first { $0.name == name }?.content ?? [] }

    /// The templates, each with the name of its file before `.mustache`.
    package var templates: [PageTemplates.Source] {
        self.files.filter { $0.name.hasSuffix(".mustache") }.map { file in
            PageTemplates.Source(String(file.name.dropLast(".mustache".count)), file.content)
        }
    }

    /// The texts, each in the language that the name of its file has before `.json`.
    package var texts: [(language: String, text: [UInt8])] {
        self.files.compactMap { file -> (language: String, text: [UInt8])? in
            let parts = file.name.split(separator: ".")
            guard parts.last == "json", let language = parts.dropLast().last else { return nil }
            return (String(language), file.content)
        }
    }
}
