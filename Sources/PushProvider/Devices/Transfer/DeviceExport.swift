import ProviderModel
package import PushStore
import PushSupport

/// The devices of an app as a file that ``DeviceImport`` reads.
///
/// Each record has the members of a registration, without the state and the times of the device. If devices register
/// during the export, the file has the devices that existed when their page was read.
package typealias DeviceExport = PagedExport<Int64>

/// The devices to export: active ones, to which notifications are sent; inactive (deactivated) ones; or all.
package enum ExportedDevices: String, CaseIterable, Hashable, Sendable {
    case active, inactive, all
}

extension DeviceExport {
    package init(store: any DeviceStore, app: Int64, format: TransferFormat, state: ExportedDevices = .active) {
        self.init(header: format == .csv ? DeviceCSVRow.header : nil) { position in
            let limit = TransferLimits.batch
            let page = try await store.devices(app: app, audience: .everyone, after: position ?? 0, limit: limit)
            let devices = page.filter { state == .all || $0.isActive == (state == .active) }
            return (try Self.text(devices, format), page.count < limit ? nil : page.last?.id)
        }
    }

    private static func text(_ devices: [DeviceRecord], _ format: TransferFormat) throws -> [UInt8] {
        switch format {
        case .ndjson:
            var json = JSONWriter()
            for device in devices { try DeviceLine.append(device, to: &json) }
            return json.bytes
        case .csv:
            var text: [UInt8] = []
            for device in devices { try DeviceCSVRow.append(device, to: &text) }
            return text
        }
    }
}
