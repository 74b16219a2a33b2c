import Foundation
import PushProtocol
package import PushStore

/// Writes devices in the form that an import takes, a page at a time.
package struct DeviceExport {
    /// Devices that are read at once.
    package static let page = 1000

    private let store: any DeviceStore
    private let app: Int64
    private let format: TransferFormat
    private let audience: AudienceExpression
    /// `nil` for active and inactive devices.
    private let isActive: Bool?
    private var after: Int64 = 0
    private var hasBegun = false
    private var hasEnded = false

    /// - Parameter isActive: `nil` for active and inactive devices; an import makes all of them active.
    package init(
        _ format: TransferFormat,
        from store: any DeviceStore,
        app: Int64,
        audience: AudienceExpression = .everyone,
        isActive: Bool? = true
    ) {
        self.store = store
        self.app = app
        self.format = format
        self.audience = audience
        self.isActive = isActive
    }

    /// The next piece of the file, which may be empty; `nil` at its end.
    package mutating func next() async throws -> [UInt8]? {
        guard !self.hasEnded else { return nil }
        var bytes: [UInt8] = []
        if !self.hasBegun, self.format == .csv {
            bytes += "\(TransferColumn.all.joined(separator: ","))\r\n".utf8
        }
        self.hasBegun = true
        let devices = try await self.store.devices(
            app: self.app,
            audience: self.audience,
            after: self.after,
            limit: Self.page
        )
        self.after = devices.last?.id ?? self.after
        self.hasEnded = devices.count < Self.page
        for device in devices where self.isActive == nil || device.isActive == self.isActive {
            switch self.format {
            case .ndjson: bytes += try device.registrationJSON.text + "\n".utf8
            case .csv: bytes += try "\(device.registrationCells.map(CSVCell.quoted).joined(separator: ","))\r\n".utf8
            }
        }
        return bytes
    }
}

extension DeviceRecord {
    /// The members of its registration; what is not known is left out.
    fileprivate var registrationJSON: JSONValue {
        var members: [String: JSONValue] = [
            "token": .string(self.token.hex), "environment": .string(self.environment.rawValue),
        ]
        let profile = self.profile
        let texts = [
            "user": profile.user, "locale": profile.locale, "timeZone": profile.timeZone,
            "appVersion": profile.appVersion, "installation": profile.installation,
        ]
        for (name, text) in texts { members[name] = text.map { .string($0) } }
        if !profile.capabilities.isEmpty {
            members["capabilities"] = .array(profile.capabilityNames.map { .string($0) })
        }
        if !profile.tags.isEmpty { members["tags"] = .array(profile.tags.sorted().map { .string($0) }) }
        if !profile.attributes.isEmpty { members["attributes"] = .object(profile.attributes) }
        return .object(members)
    }

    /// In the order of the columns.
    fileprivate var registrationCells: [String] {
        get throws {
            let profile = self.profile
            let attributes = profile.attributes.isEmpty ? Data() : try JSONValue.object(profile.attributes).text
            return [
                self.token.hex, self.environment.rawValue, profile.user ?? "", profile.locale ?? "",
                profile.timeZone ?? "", profile.appVersion ?? "", profile.installation ?? "",
                try CSVCell.text(profile.capabilityNames), try CSVCell.text(profile.tags.sorted()),
                String(decoding: attributes, as: UTF8.self),
            ]
        }
    }
}

extension DeviceProfile {
    fileprivate var capabilityNames: [String] {
        DeviceCapabilities.named.filter { self.capabilities.contains($0.value) }.keys.sorted()
    }
}
