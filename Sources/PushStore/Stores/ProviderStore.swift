/// Everything that a provider keeps on disk. What a method has written is on disk when it returns.
package protocol ProviderStore: AppStore, DeviceStore, NotificationStore, DispatchStore, TokenStateStore, UserStore,
    ScheduleStore, WebhookStore, APIKeyStore, ProviderTokenStore, AuditStore, MaintenanceStore, ClockStore,
    ErasureStore, UserSecretStore, MonitoringStore, EnvironmentStore, ReceiptStore, RetentionStore, TimelineStore,
    LibraryStore, PersonStore, SessionStore, PublishingStore, FileStore, EntitlementServerStore, StatisticsStore,
    BridgeStore, ChannelStore, FeedbackStore, LegacyTokenStore, NamedTokenStore, ShadowStore, WebPushStore,
    PushResourceStore, XMPPNodeStore, ChatSessionStore
{}
