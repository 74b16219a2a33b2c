import Foundation
import ProviderModel
import PushSupport
import PushTypes

/// Writes a device as a line of NDJSON.
enum DeviceLine {
    static func append(_ device: DeviceRecord, to json: inout JSONWriter) throws {
        let profile = device.profile
        json.raw("{\"token\":")
        json.string(device.token.hex)
        let texts: [(StaticString, String?)] = [
            (",\"environment\":", device.environment.rawValue), (",\"kind\":", device.kind.rawValue),
            (",\"activity\":", device.activity), (",\"user\":", profile.user),
            (",\"locale\":", profile.locale), (",\"timeZone\":", profile.timeZone),
            (",\"appVersion\":", profile.appVersion), (",\"installation\":", profile.installation),
        ]
        for case (let name, let value?) in texts {
            json.raw(name)
            json.string(value)
        }
        let lists: [(StaticString, [String])] = [
            (",\"capabilities\":", profile.capabilities.names), (",\"tags\":", profile.tags.sorted().map(\.text)),
        ]
        for (name, values) in lists where !values.isEmpty {
            json.raw(name)
            try json.value(.array(values.map(JSONValue.string)))
        }
        if !profile.attributes.isEmpty {
            json.raw(",\"attributes\":")
            try json.value(.object(profile.attributes))
        }
        if profile.preferences != Preferences() {
            json.raw(",\"preferences\":")
            try json.value(profile.preferences.json)
        }
        if let key = profile.encryptionKey {
            json.raw(",\"encryptionKey\":")
            try json.value(key.json)
        }
        json.raw("}\n")
    }
}

/// Writes a device as a row of CSV.
///
/// The attributes are a JSON object in one cell, because the header is written before their names are known.
enum DeviceCSVRow {
    static let header = """
        token,environment,kind,activity,user,locale,timeZone,appVersion,installation,capabilities,tags,attributes,\
        preferences,encryptionKey\r\n
        """

    static func append(_ device: DeviceRecord, to text: inout [UInt8]) throws {
        let profile = device.profile
        let attributes = try profile.attributes.isEmpty ? Data() : JSONValue.object(profile.attributes).text
        let preferences = try profile.preferences == Preferences() ? Data() : profile.preferences.json.text
        let cells: [String?] = [
            device.token.hex, device.environment.rawValue, device.kind.rawValue, device.activity, profile.user,
            profile.locale, profile.timeZone, profile.appVersion, profile.installation,
            CSVCell.text(profile.capabilities.names),
            CSVCell.text(profile.tags.sorted().map(\.text)), String(decoding: attributes, as: UTF8.self),
            String(decoding: preferences, as: UTF8.self),
            try (profile.encryptionKey?.json.text).map { String(decoding: $0, as: UTF8.self) },
        ]
        for (index, cell) in cells.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            Self.append(cell ?? "", to: &text)
        }
        text += "\r\n".utf8
    }

    /// Appends a cell, in quotation marks where RFC 4180 section 2 requires them.
    static func append(_ cell: String, to text: inout [UInt8]) {
        let needsQuotes = cell.utf8.contains { [0x22, 0x2c, 0x0a, 0x0d].contains($0) }
        guard needsQuotes else { return text += cell.utf8 }
        text.append(UInt8(ascii: "\""))
        for byte in cell.utf8 {
            if byte == UInt8(ascii: "\"") { text.append(byte) }
            text.append(byte)
        }
        text.append(UInt8(ascii: "\""))
    }
}

extension DeviceCapabilities {
    /// The names of the capabilities in the API, in alphabetical order.
    var names: [String] { Self.named.filter { self.contains($0.value) }.keys.sorted() }
}
