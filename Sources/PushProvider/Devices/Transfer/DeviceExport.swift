package import NIOCore
import ProviderModel
package import PushStore
import PushSupport

/// The devices of an app as a file that ``DeviceImport`` reads, a page at a time.
///
/// Each record has the members of a registration, without the state and the times of the device. If devices register during
/// the export, the file has the devices that existed when their page was read.
package struct DeviceExport: AsyncSequence, Sendable {
    package typealias Element = ByteBuffer

    /// The states of the devices that are exported.
    package enum State: String, CaseIterable, Hashable, Sendable {
        case active, inactive, all
    }

    /// The pause before a page is read again when too many queries wait.
    private static let pause: Duration = .seconds(1)

    private let store: any DeviceStore
    private let app: Int64
    private let format: TransferFormat
    private let state: State
    /// The caller of the query, kept because the body is written after the task of the request has ended.
    private let caller: QueryCaller?

    package init(store: any DeviceStore, app: Int64, format: TransferFormat, state: State = .active) {
        (self.store, self.app, self.format, self.state) = (store, app, format, state)
        self.caller = QueryCaller.current?.exporting
    }

    package func makeAsyncIterator() -> Iterator { Iterator(export: self) }

    /// Reads and writes the devices page by page.
    package struct Iterator: AsyncIteratorProtocol {
        private let export: DeviceExport
        private var isAtStart = true
        private var after: Int64 = 0
        private var isAtEnd = false

        fileprivate init(export: DeviceExport) { self.export = export }

        package mutating func next() async throws -> ByteBuffer? {
            if self.isAtStart {
                self.isAtStart = false
                if self.export.format == .csv { return ByteBuffer(string: DeviceCSVRow.header) }
            }
            while !self.isAtEnd {
                let page = try await self.export.page(after: self.after)
                self.isAtEnd = page.count < TransferLimits.batch
                self.after = page.last?.id ?? self.after
                let text = try self.export.text(page)
                if !text.isEmpty { return ByteBuffer(bytes: text) }
            }
            return nil
        }
    }

    /// Reads a page. Each page is a query of its own, so that no database snapshot is kept open for the whole export.
    private func page(after: Int64) async throws -> [DeviceRecord] {
        while true {
            do {
                return try await QueryCaller.$current.withValue(self.caller) {
                    try await self.store.devices(
                        app: self.app,
                        audience: .everyone,
                        after: after,
                        limit: TransferLimits.batch
                    )
                }
            } catch is BudgetRefusal {
                try await Task.sleep(for: Self.pause, clock: .continuous)
            }
        }
    }

    private func text(_ devices: [DeviceRecord]) throws -> [UInt8] {
        let devices = devices.filter { self.state == .all || $0.isActive == (self.state == .active) }
        switch self.format {
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
