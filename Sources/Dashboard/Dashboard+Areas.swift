package import ProviderAPI
import PushSupport

extension Dashboard {
    /// Creates the dashboard.
    /// - Throws: An error in a template or in a file of localized texts. The tests of this module would detect it.
    package init(_ interface: PageComponents) throws {
        self.interface = interface
        // The order of the areas is the order of their entries in the navigation.
        self.areas = [
            SignInPages(), OverviewPages(), AccountPages(), AppPages(),
            // Paths such as `notifications/new` must precede `notifications/{notification}`.
            NotificationListPages(), ComposePages(), NotificationDetailPages(),
            AudiencePages(), TemplatePages(), SchedulePages(),
            // Paths such as `publishing/files` must precede `publishing/{publication}`.
            PublicationListPages(), IssuePages(), IssueUploadPages(), NotifyPages(), FilePages(), CataloguePages(),
            EntitlementPages(), PublicationDetailPages(),
            DeviceListPages(), DeviceDetailPages(), UserPages(), DeliveryPages(),
            TokenListPages(), CredentialPages(), WebhookListPages(), WebhookDetailPages(), AppSettingsPages(),
            KeyListPages(), KeyDetailPages(), PersonListPages(), PersonDetailPages(), AuditPages(), SystemPages(),
        ]
        self.renderer = try PageRenderer(
            isSecure: interface.isSecure,
            liveStreams: interface.budgets[.livePages],
            menu: self.areas.compactMap(\.menuEntry)
        )
    }
}
