import Foundation
import Mustache
import PushSupport

/// The localized texts of the pages in one language, read from a JSON file of nested objects. Templates refer to them
/// as in `{{t.overview.title}}`, and Swift as in `texts["overview.title"]`. A text may have placeholders for values, as
/// in `{count} devices`.
package struct LocalizedTexts: Sendable {
    /// The language as in the HTML attribute `lang`, such as `en`.
    package let language: String
    let tree: JSONValue
    private let byPath: [String: String]

    static let none = LocalizedTexts(language: "en", tree: .object([:]))

    init(language: String, tree: JSONValue) {
        (self.language, self.tree) = (language, tree)
        var texts: [String: String] = [:]
        Self.collect(tree, at: "", into: &texts)
        self.byPath = texts
    }

    /// The variable `t` of templates, which contains all texts.
    package var variable: Any { TextNode(value: self.tree) }

    /// Returns the text at a path, or the path itself if there is no such text.
    package subscript(path: String) -> String { self.byPath[path] ?? path }

    /// Returns the text at a path, with its placeholders replaced by values. Returns the path if there is no such text.
    package subscript(path: String, values: [String: String]) -> String {
        values.reduce(self[path]) { $0.replacingOccurrences(of: "{\($1.key)}", with: $1.value) }
    }

    /// Returns the text at a path, or `nil` if there is no such text.
    package func text(_ path: String) -> String? { self.byPath[path] }

    private static func collect(_ value: JSONValue, at path: String, into texts: inout [String: String]) {
        switch value {
        case .string(let text): texts[path] = text
        case .object(let members):
            for (name, value) in members {
                self.collect(value, at: path.isEmpty ? name : "\(path).\(name)", into: &texts)
            }
        default: break
        }
    }
}

/// A text or an object of texts in a template. Members are looked up only when the template refers to them.
private struct TextNode: MustacheParent {
    let value: JSONValue

    func child(named name: String) -> Any? {
        switch self.value[name] {
        case .string(let text): PageText(text)
        case .object(let members): TextNode(value: .object(members))
        default: nil
        }
    }
}

package struct PageLanguages: Sendable {
    /// The default language, for people who have not chosen one and whose browser accepts no available language.
    package static let standard = "en"

    private let texts: [String: LocalizedTexts]

    /// Creates the languages from JSON files. A text that a language lacks is taken from the default language.
    /// - Parameter files: The texts of the modules that provide pages, by language. They are merged with shared texts.
    /// - Throws: ``RequestError`` for a file that is not JSON.
    package init(_ files: [(language: String, text: [UInt8])]) throws {
        var trees: [String: JSONValue] = [:]
        for (language, text) in PageFiles.shared.texts + files {
            let tree = try JSONValue(parsing: Data(text))
            trees[language] = Self.merged(trees[language] ?? .object([:]), tree)
        }
        let standard = trees[Self.standard] ?? .object([:])
        self.texts = trees.reduce(into: [:]) { texts, entry in
            texts[entry.key] = LocalizedTexts(language: entry.key, tree: Self.merged(standard, entry.value))
        }
    }

    /// The codes of all languages, in alphabetical order.
    package var all: [String] { self.texts.keys.sorted() }

    /// Returns the texts in the chosen language, or else in the first available one that the browser accepts, or in
    /// English.
    /// - Parameters:
    ///   - chosen: The language that the person has chosen, or `nil` for none.
    ///   - acceptLanguage: The value of the header field `accept-language`, or `nil` if it is absent.
    package func texts(_ chosen: String?, acceptLanguage: String?) -> LocalizedTexts {
        for language in [chosen].compactMap({ $0 }) + Self.accepted(acceptLanguage ?? "") {
            if let texts = self.texts[language] { return texts }
        }
        return self.texts[Self.standard] ?? .none
    }

    /// Returns the languages that a browser accepts, the most preferred first (RFC 9110 section 12.5.4).
    private static func accepted(_ header: String) -> [String] {
        let ranges = header.prefix(200).split(separator: ",").map { item -> (language: String, weight: Double) in
            let parts = item.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            return (String((parts.first ?? "").prefix { $0 != "-" }), weight)
        }
        let wanted = ranges.enumerated().filter { $0.element.weight > 0 }.sorted { left, right in
            (-left.element.weight, left.offset) < (-right.element.weight, right.offset)
        }
        return wanted.map { $0.element.language }
    }

    private static func merged(_ first: JSONValue, _ second: JSONValue) -> JSONValue {
        guard case .object(let left) = first, case .object(let right) = second else { return second }
        return .object(left.merging(right) { Self.merged($0, $1) })
    }
}
