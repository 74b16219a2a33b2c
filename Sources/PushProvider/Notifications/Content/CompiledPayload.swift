import Foundation
import PushSupport

/// A payload as the pieces that it is put together from for each device.
struct CompiledPayload {
    /// Where the value of a variable comes from.
    enum Source: Hashable {
        case user
        case locale
        case timeZone
        case appVersion
        /// An index into the names of attributes.
        case attribute(Int)
    }

    enum Segment {
        /// JSON text as it stands.
        case literal([UInt8])
        /// A value inside a string.
        case variable(name: String, source: Source, fallback: [UInt8]?)
        /// The member `badge` of `aps`, which comes first there.
        case badge(hasNext: Bool, isAlone: Bool)
    }

    var segments: [Segment] = []
    /// Bytes of the literals.
    var literalCount = 0
}

/// Makes ``CompiledPayload``s that share one list of attributes' names.
struct PayloadCompiler {
    /// Names of attributes in one notification.
    static let maximumNames = 64
    private static let builtIn: [String: CompiledPayload.Source] = [
        "user": .user, "locale": .locale, "timeZone": .timeZone, "appVersion": .appVersion,
    ]

    let hasVariables: Bool
    let hasBadge: Bool
    private(set) var names: [String] = []
    private(set) var sources: Set<CompiledPayload.Source> = []
    private var literal: [UInt8] = []
    private var compiled = CompiledPayload()

    init(_ content: StoredContent) {
        self.hasVariables = content.hasVariables
        self.hasBadge = content.badge != nil
    }

    /// - Throws: ``StoredContent/Damage`` for a variable that should not have been accepted.
    mutating func compile(_ payload: [String: JSONValue]) throws(StoredContent.Damage) -> CompiledPayload {
        self.compiled = CompiledPayload()
        var payload = payload
        if self.hasBadge {
            guard case .object(let aps)? = payload.removeValue(forKey: "aps") else { throw StoredContent.Damage() }
            self.literal += #"{"aps":{"#.utf8
            self.flush()
            let isAlone = aps["alert"] == nil && aps["sound"] == nil
            self.compiled.segments.append(.badge(hasNext: !aps.isEmpty, isAlone: isAlone))
            try self.write(members: aps)
            self.literal += (payload.isEmpty ? "}" : "},").utf8
            try self.write(members: payload)
            self.literal += "}".utf8
        } else {
            try self.write(.object(payload))
        }
        self.flush()
        return self.compiled
    }

    private mutating func flush() {
        guard !self.literal.isEmpty else { return }
        self.compiled.literalCount += self.literal.count
        self.compiled.segments.append(.literal(self.literal))
        self.literal = []
    }

    private mutating func write(_ value: JSONValue) throws(StoredContent.Damage) {
        switch value {
        case .null, .bool, .integer, .number:
            guard let text = try? value.text else { throw StoredContent.Damage() }
            self.literal += text
        case .string(let text): try self.write(text)
        case .array(let values):
            self.literal += "[".utf8
            for (index, value) in values.enumerated() {
                if index > 0 { self.literal += ",".utf8 }
                try self.write(value)
            }
            self.literal += "]".utf8
        case .object(let members):
            self.literal += "{".utf8
            try self.write(members: members)
            self.literal += "}".utf8
        }
    }

    private mutating func write(members: [String: JSONValue]) throws(StoredContent.Damage) {
        for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
            self.literal += (index > 0 ? ",\"" : "\"").utf8
            JSONEscaping.append(member.key.utf8, to: &self.literal)
            self.literal += "\":".utf8
            try self.write(member.value)
        }
    }

    private mutating func write(_ text: String) throws(StoredContent.Damage) {
        self.literal.append(UInt8(ascii: "\""))
        if self.hasVariables, TemplateText.hasMarks(text) {
            guard let template = try? TemplateText(parsing: text) else { throw StoredContent.Damage() }
            for part in template.parts { try self.write(part) }
        } else {
            JSONEscaping.append(text.utf8, to: &self.literal)
        }
        self.literal.append(UInt8(ascii: "\""))
    }

    private mutating func write(_ part: TemplateText.Part) throws(StoredContent.Damage) {
        switch part {
        case .text(let text): JSONEscaping.append(text.utf8, to: &self.literal)
        case .variable(let name, let fallback):
            self.flush()
            var escaped: [UInt8] = []
            JSONEscaping.append((fallback ?? "").utf8, to: &escaped)
            let source = try self.source(name)
            self.compiled.segments.append(
                .variable(name: name, source: source, fallback: fallback == nil ? nil : escaped)
            )
        }
    }

    private mutating func source(_ name: String) throws(StoredContent.Damage) -> CompiledPayload.Source {
        let source: CompiledPayload.Source
        if let builtIn = Self.builtIn[name] {
            source = builtIn
        } else if let slot = self.names.firstIndex(of: name) {
            source = .attribute(slot)
        } else {
            guard self.names.count < Self.maximumNames else { throw StoredContent.Damage() }
            self.names.append(name)
            source = .attribute(self.names.count - 1)
        }
        self.sources.insert(source)
        return source
    }
}
