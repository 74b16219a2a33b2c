package import NIOCore
package import PushStore

/// The devices of an app as a file, a page at a time: what ``DeviceImport`` takes.
///
/// Each record has what a registration has, so that neither the state nor the times of a device are in it. A file that
/// is written while devices register has those that were there when their page was read.
package struct DeviceExport: AsyncSequence, Sendable {
    package typealias Element = ByteBuffer

    /// Which devices.
    package enum State: String, CaseIterable, Hashable, Sendable {
        case active
        case inactive
        case all
    }

    /// Before a page is asked for again, when too many questions wait.
    private static let pause: Duration = .seconds(1)

    private let store: any DeviceStore
    private let app: Int64
    private let format: TransferFormat
    private let state: State
    /// The body is written when the request's own task has ended.
    private let asker: QueryCaller?

    package init(store: any DeviceStore, app: Int64, format: TransferFormat, state: State = .active) {
        self.store = store
        self.app = app
        self.format = format
        self.state = state
        self.asker = QueryCaller.current.map { QueryCaller(budget: $0.budget, purpose: .export, key: $0.key) }
    }

    package func makeAsyncIterator() -> Iterator {
        Iterator(export: self)
    }

    package struct Iterator: AsyncIteratorProtocol {
        private let export: DeviceExport
        private var isAtStart = true
        private var after: Int64 = 0
        private var isAtEnd = false

        fileprivate init(export: DeviceExport) {
            self.export = export
        }

        package mutating func next() async throws -> ByteBuffer? {
            if self.isAtStart {
                self.isAtStart = false
                if self.export.format == .csv { return ByteBuffer(string: DeviceRow.header) }
            }
            while !self.isAtEnd {
                let page = try await self.export.page(after: self.after)
                self.isAtEnd = page.count < TransferLimits.batch
                self.after = page.last?.id ?? self.after
                let text = self.export.text(page)
                if !text.isEmpty { return ByteBuffer(bytes: text) }
            }
            return nil
        }
    }

    /// Each page is a question of its own, so that no snapshot is as old as the export, and waits its turn.
    private func page(after: Int64) async throws -> [DeviceRecord] {
        while true {
            do {
                return try await QueryCaller.$current.withValue(self.asker) {
                    try await self.store.devices(
                        app: self.app,
                        audience: .everyone,
                        after: after,
                        limit: TransferLimits.batch
                    )
                }
            } catch StoreError.tooManyQueries {
                try await Task.sleep(for: Self.pause, clock: .continuous)
            }
        }
    }

    private func text(_ devices: [DeviceRecord]) -> [UInt8] {
        var text: [UInt8] = []
        for device in devices where self.state == .all || device.isActive == (self.state == .active) {
            switch self.format {
            case .ndjson: DeviceLine.append(device, to: &text)
            case .csv: DeviceRow.append(device, to: &text)
            }
        }
        return text
    }
}
