package import Foundation
package import PushTypes

/// Makes the payload for each device of one notification. Made once per notification; what can be worked out
/// beforehand is. Not shared between tasks: a copy each.
package struct ContentRenderer: Sendable {
    /// Longest value put in for a variable, in bytes of UTF-8; a longer one is cut between characters.
    package static let maximumValue = 1024
    /// Locales whose variant is remembered.
    private static let maximumLocales = 512

    package let needs: RenderNeeds
    /// How the user's count changes before it is given to ``render(for:)``; `nil` if the notification has no counter.
    package let badge: BadgeChange?
    /// The payload of every device; `nil` where it depends on the device.
    package let fixed: Data?

    private let limit: Int
    /// The first is for all other locales.
    private let variants: [Variant]
    private let variantsByName: [String: Int]
    private var variantsByLocale: [String: Int] = [:]
    private var scanner: AttributeScanner

    private struct Variant: Sendable {
        /// ``LocaleTag/name``; `nil` for all other locales.
        var locale: String?
        var payload: CompiledPayload
    }

    /// - Throws: ``RenderFailure/damagedContent``.
    package init(payload: Data, isTemplate: Bool, pushType: PushType) throws(RenderFailure) {
        self.limit = pushType.maximumPayloadSize
        guard isTemplate else {
            self.fixed = payload
            (self.needs, self.badge, self.variants, self.variantsByName) = (RenderNeeds(), nil, [], [:])
            self.scanner = AttributeScanner(names: [])
            return
        }
        guard let content = try? StoredContent(parsing: payload) else { throw .damagedContent }
        var compiler = PayloadCompiler(content)
        var variants: [Variant] = []
        do {
            variants.append(Variant(locale: nil, payload: try compiler.compile(content.payload)))
            for (locale, payload) in content.localizations.sorted(by: { $0.key < $1.key }) {
                variants.append(Variant(locale: locale, payload: try compiler.compile(payload)))
            }
        } catch {
            throw .damagedContent
        }
        self.fixed = nil
        self.variants = variants
        self.variantsByName = Dictionary(
            variants.enumerated().compactMap { index, variant in variant.locale.map { ($0, index) } },
            uniquingKeysWith: { first, _ in first }
        )
        self.badge = content.badge
        self.scanner = AttributeScanner(names: compiler.names)
        var needs = RenderNeeds()
        needs.attributes = !compiler.names.isEmpty
        needs.user = compiler.sources.contains(.user)
        needs.locale = variants.count > 1 || compiler.sources.contains(.locale)
        needs.timeZone = compiler.sources.contains(.timeZone)
        needs.appVersion = compiler.sources.contains(.appVersion)
        needs.badge = content.badge != nil
        self.needs = needs
    }

    /// The payload for one device.
    package mutating func render(for subject: RenderSubject) throws(RenderFailure) -> [UInt8] {
        if let fixed = self.fixed { return Array(fixed) }
        let payload = self.variants[self.variantIndex(for: subject.locale)].payload
        let attributes = self.needs.attributes ? subject.attributes ?? Data() : Data()
        let text = attributes.span
        if attributes.isEmpty {
            self.scanner.forget()
        } else {
            do {
                try self.scanner.scan(text)
            } catch {
                throw .damagedAttributes
            }
        }
        let filler = PayloadFiller(subject: subject, values: self.scanner.values)
        let output = try filler.fill(payload, attributes: text)
        guard output.count <= self.limit else { throw .tooLarge(size: output.count, limit: self.limit) }
        return output
    }

    /// The locale of the variant that a device gets; `nil` is the default.
    package mutating func variant(for locale: String?) -> String? {
        self.variants.isEmpty ? nil : self.variants[self.variantIndex(for: locale)].locale
    }

    /// Every variant as it is at its shortest, variables with their default or empty: to check the size and to show it.
    func samples() -> [(locale: String?, payload: [UInt8])] {
        if let fixed = self.fixed { return [(nil, Array(fixed))] }
        return self.variants.map { variant in (variant.locale, PayloadFiller.sample(variant.payload)) }
    }

    /// Variables that have no default, of any variant.
    var namesWithoutDefault: Set<String> {
        var names: Set<String> = []
        for variant in self.variants {
            for case .variable(let name, _, nil) in variant.payload.segments { names.insert(name) }
        }
        return names
    }

    private mutating func variantIndex(for locale: String?) -> Int {
        guard self.variants.count > 1, let locale else { return 0 }
        if let known = self.variantsByLocale[locale] { return known }
        let candidates = LocaleTag(locale)?.candidates ?? []
        let best = candidates.first { self.variantsByName[$0] != nil }
        let index = best.flatMap { self.variantsByName[$0] } ?? 0
        if self.variantsByLocale.count == Self.maximumLocales { self.variantsByLocale.removeAll(keepingCapacity: true) }
        if locale.utf8.count <= LocaleTag.maximumLength { self.variantsByLocale[locale] = index }
        return index
    }
}
