import Hummingbird
import ProviderModel
import PushHTTP
import PushStore
import PushSupport
import PushTypes

/// The operation `GET /v1/apps/{app}/devices`, which returns a sorted and paged list of devices that match a search.
struct DeviceListController: Controller {
    let store: any AppStore & DeviceStore

    var operations: [ProviderOperation] {
        let token =
            "Whose token begins so, in hexadecimal: \(DeviceSearch.minimumPrefix) bytes or more. Or a whole token."
        let length = 2 * DeviceSearch.minimumPrefix...DeviceToken.maximumLength * 4
        return [
            .init(.get, "/v1/apps/{app}/devices", id: "listDevices", "Devices, inactive ones too.", self.list)
                .tag(.devices).scope(.read).cost(.query)
                .parameters(
                    .query("token", token, .string(length: length)),
                    .query("user", "Of this user.", .text),
                    .query("installation", "Of this installation.", .text),
                    .query("tag", "With this tag.", .text),
                    .environment,
                    .tokenKind,
                    .query("state", "In this state.", .choice(of: DeviceSearch.State.self)),
                    .sort(DeviceSort.self),
                    .total,
                    .cursor,
                    .limit()
                )
                .responses(.ok(.countedPage("devices", of: DeviceResponse.schema)))
                .reservingPage(ofEntries: 512)
        ]
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        var search = DeviceSearch(app: app.id)
        search.tokenPrefix = try Self.tokenPrefix(request)
        // In the sort order `token`, a page costs the same however many tokens have this prefix.
        let sort = try request.choice("sort", DeviceSort.self) ?? (search.tokenPrefix == nil ? .oldest : .token)
        search.user = try request.text("user")
        search.installation = try request.text("installation")
        search.tag = try request.text("tag")
        search.environment = try request.environment()
        search.kind = try request.choice("kind", DeviceTokenKind.self)
        search.state = try request.choice("state", DeviceSearch.State.self)
        let list = sort.cursors
        let page = try await self.store.devices(
            search,
            sort: sort,
            after: try request.position(list),
            limit: try request.limit()
        )
        let total = try request.wantsTotal() ? try await self.store.totalDevices(search) : nil
        let next = page.next?.cursor(list, isSorted: sort != .oldest)
        return try .countedPage("devices", page.entries.map(DeviceResponse.init), next: next, total: total)
    }

    /// Returns the bytes with which the tokens to search for begin, which may be a whole token. Returns `nil` if the
    /// query names none.
    /// - Throws: ``RequestError`` for a prefix that is too short, or is not a token.
    private static func tokenPrefix(_ request: OperationRequest) throws -> [UInt8]? {
        try request.value(
            "token",
            { text in
                // An odd digit at the end is dropped, so a few more devices may be found.
                let digits = text.prefix(text.count - text.count % 2)
                return (Hexadecimal.decode(digits) ?? DeviceToken(userInput: text)?.bytes)
                    .flatMap { $0.count >= DeviceSearch.minimumPrefix ? $0 : nil }
            },
            orThrow: RequestError(
                .invalid,
                code: "invalid_token",
                message: "use at least \(2 * DeviceSearch.minimumPrefix) hexadecimal digits, or a whole token",
                path: "token"
            )
        )
    }
}

extension DeviceSort {
    /// The list to which the cursors of this sort order belong. A cursor of another order is rejected.
    fileprivate var cursors: Cursor.List {
        switch self {
        case .oldest: .devices
        case .newest: Cursor.List("dn", numbers: 2)
        case .lastSeen: Cursor.List("dl", numbers: 2)
        case .user: Cursor.List("du", numbers: 2)
        case .token: Cursor.List("dt", numbers: 2)
        }
    }
}
