package import Foundation
package import ProviderModel
package import PushStore

/// Renders the payload for each device of one notification.
///
/// It is created once per notification, and does the work that does not depend on the device when it is created. It is
/// not shared between tasks: each task uses a copy.
package struct ContentRenderer: Sendable {
    /// The maximum length of a variable's value, in bytes of UTF-8. A longer value is truncated between characters.
    package static let maximumValue = 1024
    /// The maximum number of locales whose variant is cached. A full cache is emptied.
    private static let maximumLocales = 512

    /// The fields of a recipient's profile that ``render(for:badge:)`` reads.
    package let needs: RecipientProfileFields
    /// The change of the badge count before ``render(for:badge:)``, or `nil` if the content has no badge counter.
    package let badge: BadgeChange?
    /// The payload for all devices, or `nil` if it depends on the device.
    package let fixed: Data?

    private let limit: Int
    /// The variants. The first one is for all locales that have no localization.
    private let variants: [Variant]
    private let variantsByName: [String: Int]
    private var variantsByLocale: [String: Int] = [:]
    private var scanner: AttributeScanner

    private struct Variant: Sendable {
        /// The locale (``LocaleTag/name``), or `nil` for all locales that have no localization.
        var locale: String?
        var payload: CompiledPayload
    }

    /// Creates a renderer. `notification` is the id for the member `martlet`, or `nil` before acceptance.
    /// - Throws: ``RenderFailure/damagedContent`` if the stored content cannot be decoded.
    package init(_ content: NotificationContent, notification: UUID? = nil) throws(RenderFailure) {
        self.limit = content.maximumPayloadSize
        let marker = PayloadMarker(content, notification: notification ?? PayloadMarker.sampleID)
        guard content.isTemplate else {
            self.fixed = marker?.add(to: content.payload) ?? content.payload
            (self.needs, self.badge, self.variants, self.variantsByName) = ([], nil, [], [:])
            self.scanner = AttributeScanner(names: [])
            return
        }
        let template: PayloadTemplate
        var compiler: PayloadCompiler
        var variants: [Variant] = []
        do throws(PayloadTemplate.Damage) {
            template = try PayloadTemplate(stored: content.payload)
            compiler = PayloadCompiler(template)
            variants.append(Variant(locale: nil, payload: try compiler.compile(template.payload)))
            for (locale, payload) in template.localizations.sorted(by: { $0.key < $1.key }) {
                variants.append(Variant(locale: locale, payload: try compiler.compile(payload)))
            }
        } catch {
            throw .damagedContent
        }
        self.fixed = nil
        if let marker { for index in variants.indices { marker.add(to: &variants[index].payload) } }
        self.variants = variants
        self.variantsByName = Dictionary(
            variants.enumerated().compactMap { index, variant in variant.locale.map { ($0, index) } },
            uniquingKeysWith: { first, _ in first }
        )
        self.badge = template.badge
        self.scanner = AttributeScanner(names: compiler.names)
        self.needs = Self.needs(compiler, hasVariants: variants.count > 1)
    }

    private static func needs(_ compiler: PayloadCompiler, hasVariants: Bool) -> RecipientProfileFields {
        var needs: RecipientProfileFields = compiler.names.isEmpty ? [] : .attributes
        // The badge is counted per user.
        if compiler.hasBadge || compiler.sources.contains(.user) { needs.insert(.user) }
        if hasVariants || compiler.sources.contains(.locale) { needs.insert(.locale) }
        if compiler.sources.contains(.timeZone) { needs.insert(.timeZone) }
        if compiler.sources.contains(.appVersion) { needs.insert(.appVersion) }
        return needs
    }

    /// Returns the payload for one device.
    /// - Parameter badge: The badge count to show, this notification included, or `nil` to leave it unchanged.
    package mutating func render(for profile: RecipientProfile, badge: Int?) throws(RenderFailure) -> [UInt8] {
        if let fixed = self.fixed { return Array(fixed) }
        let payload = self.variants[self.variantIndex(for: profile.locale)].payload
        let attributes = self.needs.contains(.attributes) ? profile.attributes ?? Data() : Data()
        let text = attributes.span
        if attributes.isEmpty {
            self.scanner.reset()
        } else {
            do {
                try self.scanner.scan(text)
            } catch {
                throw .damagedAttributes
            }
        }
        let filler = PayloadAssembler(profile: profile, badge: badge, values: self.scanner.values)
        let output = try filler.fill(payload, attributes: text)
        guard output.count <= self.limit else { throw .tooLarge(size: output.count, limit: self.limit) }
        return output
    }

    /// Returns the locale of the variant for a device, or `nil` for the default variant.
    package mutating func variant(for locale: String?) -> String? {
        self.variants.isEmpty ? nil : self.variants[self.variantIndex(for: locale)].locale
    }

    /// Returns every variant at its minimum length, with variables at their default or empty.
    func samples() -> [(locale: String?, payload: [UInt8])] {
        if let fixed = self.fixed { return [(nil, Array(fixed))] }
        return self.variants.map { variant in (variant.locale, PayloadAssembler.sample(variant.payload)) }
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

/// The reason why no payload can be rendered for a device. Another attempt would fail in the same way.
package enum RenderFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// A variable for which the device has no value, and which has no default.
    case missingValue(String)
    /// Stored content that cannot be decoded, so that no device receives a push.
    case damagedContent
    /// Attributes of the device that are not a JSON object.
    case damagedAttributes
    /// A payload that sets only the badge, for a device without a badge count.
    case missingBadge
    /// Encrypted content for a device without a key.
    case noEncryptionKey
    /// A key of the device to which no payload can be encrypted.
    case unusableKey
    /// A payload that exceeds the limit of its push type. Both numbers are in bytes.
    case tooLarge(size: Int, limit: Int)

    /// The reason, as stored in the ledger. It never includes a value from the device's profile.
    package var description: String {
        switch self {
        case .missingValue(let name): "the device has no value for {{\(name)}}, which has no default"
        case .damagedContent: "the stored content cannot be read"
        case .damagedAttributes: "the device's attributes cannot be read"
        case .missingBadge: "there is no badge count for this device and nothing else to show"
        case .noEncryptionKey: SkipReason.noEncryptionKey.text(category: nil)
        case .unusableKey: "the device's encryption key cannot be used"
        case .tooLarge(let size, let limit): "the payload would have \(size) bytes, the limit is \(limit)"
        }
    }
}
